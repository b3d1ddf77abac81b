import { expect, test } from 'vitest'

import { explain } from '../../src/model/explanation.ts'
import { attachScoring } from '../../src/processor/attach/attach.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import type { AgentRun } from '../../src/model/agent-run.ts'
import { codeScorer, createPipeline, expectBalanced, judgeScorer, open, runAgent, toolAttributes } from './harness.ts'

const SECRET = 'the-secret-of-the-user'

function runWithSecrets(tracer: Parameters<typeof open>[0]): void {
  const message = JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: SECRET }] }])
  const agent = open(tracer, 'invoke_agent a', {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'a',
    'gen_ai.system_instructions': message,
    'gen_ai.input.messages': message,
    'gen_ai.output.messages': message,
    'gen_ai.tool.definitions': message,
    'input.value': SECRET,
    'ai.prompt': SECRET,
    'error.message': SECRET,
    'error.type': 'Error',
    'gen_ai.evaluation.explanation': `It repeats ${SECRET}`,
  })
  agent.addEvent('gen_ai.evaluation.result', {
    'gen_ai.evaluation.name': 'relevance',
    'gen_ai.evaluation.explanation': `It repeats ${SECRET}`,
    'spanscore.findings': SECRET,
  })
  agent.addLink({ context: agent.spanContext(), attributes: { 'input.value': SECRET, kind: 'retry' } })
  const tool = open(
    tracer,
    'execute_tool t',
    { ...toolAttributes('t'), 'gen_ai.tool.call.arguments': SECRET, 'gen_ai.tool.call.result': SECRET },
    agent,
  )
  tool.recordException(new Error(`failed on ${SECRET}`))
  tool.addEvent('gen_ai.user.message', { 'gen_ai.system': 'openai', content: SECRET })
  tool.setStatus({ code: 2, message: `failed on ${SECRET}` })
  tool.end()
  agent.end()
}

const nosyJudge = () =>
  judgeScorer('nosy', {
    assess: (run) =>
      Promise.resolve({
        status: 'scored',
        value: 1,
        explanation: `It says ${run.userInput}`,
        findings: [{ about: 'answer', verdict: 'said', rating: 'bad', text: run.userInput ?? '' }],
      }),
  })

const talkative = codeScorer('talkative', {
  assess: (run) => {
    throw new Error(`cannot read ${run.userInput}`)
  },
})

/** This scorer itself declares which of its words are content. */
const exact = codeScorer('exact', {
  assess: (run) => ({ status: 'scored', value: 1, explanation: explain`${2} words: ${run.userInput ?? ''}` }),
})

test('with stripContent no signal carries content, but signals carry names, ids and scores', async () => {
  const { tracer, receiver, flush, diagnostics } = await createPipeline({ processors: (batch) => [batch] })
  const bodies: string[] = []
  const scoring = attachScoring({
    scorers: [nosyJudge(), codeScorer('plain'), exact, talkative],
    stripContent: true,
    emit: { lateSpans: 'always' },
    onScore: (_, run) => bodies.push(run.userInput ?? ''),
  })
  runWithSecrets(tracer)
  await flush()
  expect(bodies).toContain(SECRET)
  expect(diagnostics.filter((line) => line.includes('talkative threw Error at'))).toHaveLength(1)
  expect(diagnostics.join()).not.toContain(SECRET)
  expect(JSON.stringify([receiver.spans, receiver.logs, receiver.metrics])).not.toContain(SECRET)
  const agent = receiver.spans.find(({ name }) => name === 'invoke_agent a')
  expect(agent?.attributes).toMatchObject({
    'gen_ai.agent.name': 'a',
    'spanscore.nosy.score': 1,
    'spanscore.exact.explanation': '2 words: [removed]',
  })
  expect(agent?.attributes).not.toHaveProperty('spanscore.nosy.explanation')
  expect(agent?.events).toMatchObject([{ attributes: { 'gen_ai.evaluation.name': 'relevance' } }])
  // What we explain ourselves stays in every signal, without content.
  const late = receiver.spans.find(({ name }) => name === 'evaluate exact')
  expect(late?.attributes).toHaveProperty(['gen_ai.evaluation.explanation'], '2 words: [removed]')
  const tool = receiver.spans.find(({ name }) => name === 'execute_tool t')
  expect(tool).toMatchObject({ status: { code: 'error' }, attributes: { 'gen_ai.tool.name': 't' } })
  expect(tool?.events.map(({ name }) => name)).toEqual(['exception', 'gen_ai.user.message'])
  expect(tool?.events[0]?.attributes).toMatchObject({ 'exception.type': 'Error' })
  expectBalanced(scoring.ledger())
})

test('without stripContent the same content does leave: the test above can fail', async () => {
  const { tracer, receiver, flush } = await createPipeline({ processors: (batch) => [batch] })
  attachScoring({ scorers: [nosyJudge()] })
  runWithSecrets(tracer)
  await flush()
  expect(JSON.stringify(receiver.spans)).toContain(SECRET)
  expect(JSON.stringify(receiver.logs)).toContain(SECRET)
})

test.each([
  ['none', []],
  ['code', ['exact']],
  ['all', ['exact', 'nosy']],
] as const)('with explanations: %s, only those of %j leave the process', async (explanations, explained) => {
  const { tracer, receiver, flush } = await createPipeline({ processors: (batch) => [batch] })
  attachScoring({ scorers: [nosyJudge(), exact, talkative], emit: { lateSpans: 'always', explanations } })
  runAgent(tracer)
  await flush()
  const agent = receiver.spans.find(({ name }) => name.startsWith('invoke_agent'))
  const late = receiver.spans.filter(({ name }) => name.startsWith('evaluate '))
  const explains = (id: string): boolean => explained.some((each) => each === id)
  for (const id of ['exact', 'nosy']) {
    const ofId = late.find(({ name }) => name === `evaluate ${id}`)
    const event = receiver.logs.find(({ attributes }) => attributes['gen_ai.evaluation.name'] === id)
    for (const signal of [agent, ofId]) expect(`spanscore.${id}.explanation` in signal!.attributes).toBe(explains(id))
    for (const signal of [ofId, event]) {
      expect('gen_ai.evaluation.explanation' in signal!.attributes).toBe(explains(id))
    }
  }
  // The message of a failure quotes what the scorer threw.
  expect(agent?.attributes['spanscore.talkative.status_message']).toContain(
    explanations === 'none' ? 'talkative threw Error at' : 'cannot read What is the weather',
  )
})

test('stripContent beside other processors is refused, with what to do', () => {
  expect(() => new ScoringSpanProcessor({ scorers: [codeScorer('exact')], stripContent: true })).toThrow(
    /options\.stripContent: expected next, or attachScoring/,
  )
})

test('redact runs once per run before anything reaches a judge, and code scorers see the original run', async () => {
  const seen: Record<string, unknown> = {}
  let calls = 0
  const see = (id: string) => (run: AgentRun) => {
    seen[id] = [run.userInput, run.toolCalls.map((call) => [call.name, call.arguments])]
    return { status: 'scored', value: 1 } as const
  }
  const scoring = new ScoringSpanProcessor({
    scorers: [
      judgeScorer('first', { assess: see('first') }),
      judgeScorer('second', { assess: see('second') }),
      codeScorer('code', { assess: see('code') }),
    ],
    redact: (run) => {
      calls += 1
      // Fields that redact does not replace are unchanged, and changes are made in a copy.
      for (const call of run.toolCalls) Object.assign(call, { arguments: '[redacted]' })
      return { ...run, userInput: run.userInput?.replace(SECRET, '[redacted]') ?? '' }
    },
  })
  const { tracer, flush } = await createPipeline({ processors: (batch) => [scoring, batch] })
  runWithSecrets(tracer)
  await flush()
  const redacted = ['[redacted]', [['t', '[redacted]']]]
  expect(seen).toEqual({ first: redacted, second: redacted, code: [SECRET, [['t', SECRET]]] })
  expect(calls).toBe(1)
})

test('missing content is reported once for each dialect, with the setting that records it', async () => {
  const { tracer, provider, diagnostics, flush } = await createPipeline({ processors: (batch) => [batch] })
  const scoring = attachScoring({ scorers: [codeScorer('exact', { needs: ['output'] })] })
  const sdk = provider.getTracer('gen_ai')
  const speechless = () => {
    const agent = open(sdk, 'invoke_agent a', { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'a' })
    open(sdk, 'chat m', { 'gen_ai.operation.name': 'chat' }, agent).end()
    agent.end()
  }
  runWithSecrets(tracer)
  speechless()
  speechless()
  await flush()
  const notices = diagnostics.filter((line) => line.includes('holds no messages'))
  expect(notices).toHaveLength(1)
  expect(notices[0]).toContain('A run of a (ai-sdk)')
  expect(notices[0]).toContain('recordInputs')
  expectBalanced(scoring.ledger())
})
