// Two runs of the agent in one request, with a score by code and one by a judge that takes its time. Prints what the process alone knows.
const nodeModule = require('node:module')
const path = require('node:path')

const createAgent = require('../agent.cjs')
const { vendor } = require('./starting.cjs')

const { AGENT, HOW, COMPAT_MODEL_URL, AGENTS_FOLDER } = process.env
const spanscore = HOW === 'off' ? [] : ['spanscore', 'spanscore/scorers/prebuilt']
const packages = ['@opentelemetry/api', 'ai', '@ai-sdk/openai', '@ai-sdk/otel', 'zod', ...spanscore]
if (HOW === 'own') packages.unshift(...vendor.packages)

/** The scorers of every scenario. */
function scorers(get) {
  const { createScorer, createToolCallAccuracyScorerCode } = get('spanscore/scorers/prebuilt')
  const { z } = get('zod')
  const openai = get('@ai-sdk/openai').createOpenAI({ baseURL: COMPAT_MODEL_URL, apiKey: 'scripted' })
  const polite = createScorer({
    id: 'polite',
    description: 'Whether the answer is polite.',
    judge: { model: openai('gpt-5-mini'), instructions: 'You judge whether an answer is polite.' },
    needs: ['output'],
  })
    .analyze({
      description: 'Asks about the answer.',
      outputSchema: z.object({ polite: z.boolean() }),
      createPrompt: ({ run }) => `JUDGE this answer: ${JSON.stringify(run.output)}`,
    })
    .generateScore(({ results }) => (results.analyzeStepResult.polite ? 1 : 0))
  return [createToolCallAccuracyScorerCode({ expectedTool: 'weather' }), polite]
}

/** An agent of OpenAI's library, traced by OpenInference. Both are installed apart, with the copy of the API that they ask for. */
function createOtherAgent() {
  const load = nodeModule.createRequire(path.join(AGENTS_FOLDER, 'package.json'))
  const agents = load('@openai/agents')
  const { OpenAIAgentsInstrumentation } = load('@arizeai/openinference-instrumentation-openai-agents')
  const { z } = load('zod')
  const OpenAI = load('openai')
  new OpenAIAgentsInstrumentation().manuallyInstrument(agents)
  agents.setDefaultOpenAIClient(new OpenAI({ baseURL: COMPAT_MODEL_URL, apiKey: 'scripted', maxRetries: 0 }))
  agents.setOpenAIAPI('chat_completions')
  const weather = agents.tool({
    name: 'weather',
    description: 'Get the weather at a place.',
    parameters: z.object({ place: z.string() }),
    execute: async ({ place }) => JSON.stringify({ place, temperatureC: 4 }),
  })
  const agent = new agents.Agent({
    name: 'weather-agent',
    instructions: 'Weather.',
    model: 'gpt-5-mini',
    tools: [weather],
  })
  return async (place) => ({ text: (await agents.run(agent, `What is the weather in ${place}?`)).finalOutput })
}

async function answer(get) {
  let scoring
  // The start of some takes a while.
  globalThis.vendor = await globalThis.vendor
  const scored = []
  const onScore = ({ scorer, score }) => scored.push([scorer.id, score.status])
  if (HOW === 'own') [scoring, globalThis.vendor] = await vendor.own(get, { scorers: scorers(get), onScore })
  if (HOW === 'attach') scoring = get('spanscore').attachScoring({ scorers: scorers(get), onScore })
  const { flush, shutdown, kept = () => undefined, run = (work) => work() } = globalThis.vendor
  const ask = AGENT === 'openai-agents' ? createOtherAgent() : createAgent(get)
  const answers = await run(() => Promise.all([ask('Oslo'), ask('Lima')]))
  // What register has attached is what attaching again returns. If it has not, there is no score of these runs.
  if (HOW.startsWith('register')) scoring = get('spanscore').attachScoring({ scorers: scorers(get) })
  const wrong = []
  await flush().catch((error) => wrong.push(`flush: ${error}`))
  await scoring?.forceFlush()
  if (scoring !== undefined) await flush().catch((error) => wrong.push(`second flush: ${error}`))
  const ledger = scoring?.ledger()
  const spans = kept()
  await Promise.resolve(shutdown()).catch((error) => wrong.push(`shutdown: ${error}`))
  console.log(
    `COMPAT ${JSON.stringify({ answers: answers.map(({ text }) => text), ledger, scored, wrong, kept: spans })}`,
  )
}

module.exports = { packages, answer, scorers }
