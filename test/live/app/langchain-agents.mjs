import { SystemMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { createReactAgent, ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent, createMiddleware, humanInTheLoopMiddleware, ToolMessage } from 'langchain'

import { asText, toolsOf } from './tools.mjs'

function model() {
  return new ChatOpenAI({
    model: 'gpt-5-mini',
    apiKey: 'scripted',
    configuration: { baseURL: `${process.env.MODEL_URL}/v1` },
    maxRetries: 0,
  })
}

function langchainTools(run, answer) {
  return toolsOf(run, answer).map(({ name, description, schema, execute }) =>
    tool(async (args) => asText(await execute(args)), { name, description, schema }),
  )
}

/** An error of a tool goes back to the model, as LangChain's documentation does it. */
const handleToolErrors = createMiddleware({
  name: 'HandleToolErrors',
  wrapToolCall: async (request, handler) => {
    try {
      return await handler(request)
    } catch (error) {
      return new ToolMessage({ content: `Error: ${error.message}`, tool_call_id: request.toolCall.id, status: 'error' })
    }
  },
})

/** A person must approve some tools. Then the graph is interrupted, and its state is kept. */
function approvals(run) {
  const names = toolsOf(run).flatMap(({ name, needsApproval }) => (needsApproval ? [name] : []))
  if (names.length === 0) return {}
  const interruptOn = Object.fromEntries(names.map((name) => [name, true]))
  return {
    middleware: [handleToolErrors, humanInTheLoopMiddleware({ interruptOn })],
    checkpointer: new MemorySaver(),
  }
}

/** The three ways to build an agent, each with the model's text as its answer. */
export const agents = {
  createAgent: (run, options, answer, config) => {
    const approved = approvals(run)
    const agent = createAgent({
      name: run.agent,
      model: model(),
      systemPrompt: run.system,
      tools: langchainTools(run, answer),
      middleware: [handleToolErrors],
      ...approved,
    })
    return ask(agent, run, options, {
      ...config,
      ...(approved.checkpointer !== undefined && { configurable: { thread_id: run.input } }),
    })
  },
  createReactAgent: (run, options, answer, config) =>
    ask(
      createReactAgent({
        name: run.agent,
        llm: model(),
        prompt: run.system,
        tools: langchainTools(run, answer),
      }),
      run,
      options,
      config,
    ),
  StateGraph: (run, options, answer, config) => {
    const tools = langchainTools(run, answer)
    const bound = model().bindTools(tools)
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', async ({ messages }) => ({
        messages: [await bound.invoke([new SystemMessage(run.system), ...messages])],
      }))
      .addNode('tools', new ToolNode(tools))
      .addEdge(START, 'model')
      .addConditionalEdges('model', toolsCondition, ['tools', END])
      .addEdge('tools', 'model')
      .compile({ name: run.agent })
    return ask(graph, run, options, config)
  },
}

async function ask(graph, run, { stream }, config) {
  const question = { messages: [{ role: 'user', content: run.input }] }
  if (!stream) return (await graph.invoke(question, config)).messages.at(-1).content
  let last
  // With `messages` the model is read as a stream.
  for await (const [mode, state] of await graph.stream(question, { ...config, streamMode: ['messages', 'values'] })) {
    if (mode === 'values') last = state
  }
  return last.messages.at(-1).content
}
