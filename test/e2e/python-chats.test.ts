import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createScriptedOpenAIServer, judgeReply, readJudgePrompt } from 'spanscore/testing'
import type { ScriptedOpenAIServer, ScriptedRequest } from 'spanscore/testing'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'

import { startProgram } from '../../server/test/program.ts'
import type { Program } from '../../server/test/program.ts'
import { createSink } from '../../server/test/sink.ts'
import type { Sink } from '../../server/test/sink.ts'
import { pythonWithPackages, startPythonChat } from './python.ts'
import type { PythonChat } from './python.ts'
import { eventually } from '../../scripts/stack.ts'

const config = `
scorers:
  - { name: faithfulness, model: openai/gpt-5-mini, agent: librarian }
  - { name: retrieval_relevance, model: openai/gpt-5-mini }
  - { name: resolution, model: openai/gpt-5-mini }
  - { name: knowledge_retention, model: openai/gpt-5-mini }
  - { name: user_friction, model: openai/gpt-5-mini }
  - abandoned
`

let folder: string
let judge: ScriptedOpenAIServer
let model: ScriptedOpenAIServer
let sink: Sink
let service: Program
let endpoint: string
beforeAll(async () => {
  await pythonWithPackages()
}, 280_000)
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-chats-'))
  sink = await createSink()
  judge = await createScriptedOpenAIServer(judged)
  model = await createScriptedOpenAIServer(answered)
  const path = join(folder, 'spanscore.yaml')
  writeFileSync(path, config)
  const args = ['--to', sink.url, '--data', join(folder, 'data'), '--config', path, '--settle', '0.5', '--idle', '6']
  const started = await startProgram([...args, '--http-port', '0', '--grpc-port', '0'], {
    ready: /OTLP\/gRPC on port (\d+)/,
    env: { OPENAI_BASE_URL: judge.url, OPENAI_API_KEY: 'scripted' },
  })
  service = started
  endpoint = `http://127.0.0.1:${started.match[1]}`
})
afterEach(async () => {
  await service.stop()
  await Promise.all([judge.close(), model.close(), sink[Symbol.asyncDispose]()])
  rmSync(folder, { recursive: true, force: true })
})

/** The agents' model: it looks an order up if its number is new, and answers from what it was given. */
function answered({ userText, toolResults, toolNames, system }: ScriptedRequest) {
  if (system.includes('four degrees')) return `The documents say it: ${userText}`
  const number = /\d+/.exec(userText)?.[0]
  const [found] = toolResults
  if (found !== undefined) return found.text
  return number !== undefined && toolNames.includes('find_order')
    ? { toolCalls: [{ name: 'find_order', arguments: { number } }] }
    : `You said: ${userText}`
}

/** The judge: it finds what the prompts show. */
function judged({ userText }: ScriptedRequest): string {
  const { questions, sections } = readJudgePrompt(userText)
  const shown = [...sections.values()].join('\n')
  const isKnown = shown.includes('Oslo had four degrees below zero on Monday.')
  return judgeReply({
    verdicts: Object.fromEntries(
      questions.map(({ id, verdicts: [first = ''] }) => {
        const said = shown.split('\n').find((line) => line.startsWith(`${id.replace('_', ' ')}, user: `)) ?? ''
        return [id, said.includes('No, I meant') ? 'corrects' : first]
      }),
    ),
    lists: {
      claims: [{ text: 'It had four degrees below zero.', verdict: isKnown ? 'supported' : 'not_stated' }],
      goals: [{ text: 'find the order', verdict: 'done' }],
      facts: [{ text: 'the number is 12', verdict: 'kept' }],
    },
  })
}

async function chatWith(app: string, name: string): Promise<PythonChat> {
  return await startPythonChat(app, {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_SERVICE_NAME: name,
    OTEL_BSP_SCHEDULE_DELAY: '200',
    MODEL_URL: model.url,
  })
}

/** The events of one scorer about agents of one name. */
const scoresOf = (scorer: string, agent: string) =>
  sink.logs
    .map(({ attributes }) => attributes)
    .filter((each) => each['gen_ai.evaluation.name'] === scorer && each['gen_ai.agent.name'] === agent)

const scoreOf = (turns: number, scorer: string) =>
  eventually(`the score of ${turns} turns by ${scorer}`, async () =>
    scoresOf(scorer, 'shop-clerk').find((each) => each['spanscore.revision'] === turns),
  )

it('scores a chat of Pydantic AI once when it is over, and again when it went on', async () => {
  await using chat = await chatWith('pydantic_ai_chat.py', 'shop')
  const said = [
    'Hello, I am Ada.',
    'Where is order 11?',
    'No, I meant order 12.',
    'Will it come on Friday?',
    'Thank you!',
  ]
  for (const text of said) await chat.say(text)
  const first = await scoreOf(5, 'user_friction')
  // One of four messages after the first one.
  expect(first).toMatchObject({
    'gen_ai.evaluation.score.value': 0.25,
    'spanscore.level': 'conversation',
    'spanscore.turns': 5,
    'spanscore.complete': true,
  })
  expect(first['gen_ai.evaluation.explanation']).toContain('turn 3 corrects')
  const conversations = judge.requests.map(({ userText }) => readJudgePrompt(userText).sections.get('the conversation'))
  const shown = conversations.find((text) => text?.includes('Ada'))
  for (const [index, text] of said.entries())
    expect(shown).toContain(`turn ${index + 1}, user: ${JSON.stringify(text)}`)
  expect(shown).toMatch(/turn 3, call_\d+: "find_order", ok/)
  expect(shown).toContain('turn 3, agent: "Order 12 is on its way."')

  await chat.say('And where is order 13?')
  for (const [scorer, value] of [
    ['user_friction', 0.2],
    ['resolution', 1],
    ['knowledge_retention', 1],
    ['abandoned', 0],
  ] as const) {
    const second = await scoreOf(6, scorer)
    expect(second).toMatchObject({ 'gen_ai.evaluation.score.value': value, 'spanscore.turns': 6 })
    const all = scoresOf(scorer, 'shop-clerk')
    expect(all.map((each) => each['spanscore.revision'])).toEqual([5, 6])
    expect(new Set(all.map((each) => each['spanscore.score.key'])).size).toBe(1)
    expect(new Set(all.map((each) => each['gen_ai.conversation.id'])).size).toBe(1)
  }
})

it('shows the documents that a LangGraph agent retrieved to the judges of each run, and joins the runs of its thread', async () => {
  await using chat = await chatWith('langgraph_rag.py', 'library')
  for (const text of ['How cold was it in Oslo?', 'Are you sure?']) await chat.say(text)
  const faithful = await eventually('scores of both runs', async () => {
    const scores = scoresOf('faithfulness', 'librarian')
    return scores.length === 2 && scores
  })
  expect(faithful.map((each) => each['gen_ai.evaluation.score.value'])).toEqual([1, 1])
  const evidence = judge.requests.flatMap(({ userText }) => {
    const { sections, lists } = readJudgePrompt(userText)
    return lists.some(({ name }) => name === 'claims') ? [[...sections.values()].join('\n')] : []
  })
  expect(evidence).toHaveLength(2)
  for (const text of evidence) {
    // Once as it was retrieved, and once in the instructions, which quote it.
    expect(text.split('Oslo had four degrees below zero on Monday.')).toHaveLength(3)
    expect(text.split('Bergen had seven degrees and rain on Monday.')).toHaveLength(3)
  }
  await eventually('scores of both retrievals', async () => scoresOf('retrieval_relevance', 'librarian').length === 2)
  const conversation = await eventually('the score of the conversation', async () =>
    scoresOf('abandoned', 'librarian').find((each) => each['spanscore.revision'] === 2),
  )
  expect(conversation).toMatchObject({ 'session.id': 'thread-7', 'spanscore.turns': 2, 'spanscore.complete': true })
})
