import { describe, expect, it } from 'vitest'

import { createScriptedJudge } from '../../testing/scripted-judge.ts'
import { createAgentTestRun, createTestMessage, createToolInvocation } from '../../testing/test-messages.ts'
import { createScorer } from './create-scorer.ts'

const tool = (toolName: string, result: unknown, id: string) =>
  createToolInvocation({ toolName, toolCallId: id, args: { amount: 1 }, result, state: 'result' })

function runWith(...invocations: ReturnType<typeof tool>[]) {
  const output = [createTestMessage({ role: 'assistant', content: 'Done.', toolInvocations: invocations })]
  return createAgentTestRun({ inputMessages: [createTestMessage({ role: 'user', content: 'Pay it back.' })], output })
}

const run = runWith(tool('refund', 'ok', 'a'), tool('search', 'nothing', 'b'), tool('refund', 'bad', 'c'))

const refunds = createScorer({ id: 'refunds', description: 'Whether refunds work.', level: 'tool-call' })

/** A run with so many calls, about each of which a prompt asks. */
async function asked(count: number) {
  const model = createScriptedJudge({ json: { score: 1 } })
  const scorer = createScorer({
    id: 'rated',
    description: 'Rated.',
    level: 'tool-call',
    judge: { model },
  }).generateScore({
    description: 'Rates the call.',
    createPrompt: ({ call }) => `Rate ${call.name}.`,
  })
  const calls = Array.from({ length: count }, (_, index) => tool('t', '', String(index)))
  const result = await scorer.run(runWith(...calls)).catch((error: unknown) => error)
  return { result, requests: model.calls.length }
}

describe('a scorer of tool calls', () => {
  it('is given each call and the run, and its score is the mean of the calls that have one', async () => {
    const scorer = refunds
      .generateScore(({ call, agentRun }) =>
        call.name === 'refund'
          ? Number(call.result === 'ok' && agentRun.toolCalls.length === 3)
          : { status: 'skipped', reason: 'not-applicable', message: 'It is no refund.' },
      )
      .generateReason(({ call, score }) => `${call.id} gave ${score}`)
    const { score, calls, evaluation, reason } = await scorer.run(run)
    expect(scorer.level).toBe('tool-call')
    expect(score).toBe(0.5)
    expect(evaluation.score).toMatchObject({ status: 'scored', value: 0.5, label: 'fail' })
    expect(reason).toBe('1 of 2 tool calls fails: refund 0 (c gave 0)')
    expect(calls).toMatchObject([
      { index: 0, name: 'refund', toolCallId: 'a', score: { value: 1, label: 'pass', explanation: 'a gave 1' } },
      { index: 1, name: 'search', toolCallId: 'b', score: { status: 'skipped', reason: 'not-applicable' } },
      { index: 2, name: 'refund', toolCallId: 'c', score: { value: 0, label: 'fail' } },
    ])
  })

  it('loses no other call by one that throws, rejects or returns no score', async () => {
    const scorer = refunds.generateScore(({ call }) => {
      if (call.id === 'a') throw new Error('no')
      return call.id === 'b' ? 7 : Promise.reject(new Error('never'))
    })
    await expect(scorer.run(run)).rejects.toThrow(/refunds threw Error: no/)
    const one = refunds.generateScore(({ call }) =>
      call.id === 'a' ? 7 : call.id === 'b' ? 1 : Promise.reject(new Error('never')),
    )
    const { score, calls } = await one.run(run)
    expect(score).toBe(1)
    expect(calls?.map((call) => call.score)).toMatchObject([
      { status: 'failed', code: 'invalid-score' },
      { status: 'scored', value: 1 },
      { status: 'failed', code: 'scorer-threw' },
    ])
  })

  it('looks at no more than five calls together if its steps take time, and keeps their order', async () => {
    let [open, most] = [0, 0]
    const scorer = refunds.generateScore(async ({ call }) => {
      open += 1
      most = Math.max(most, open)
      await new Promise((resolve) => setImmediate(resolve))
      open -= 1
      return Number(call.id) / 20
    })
    const { calls } = await scorer.run(
      runWith(...Array.from({ length: 20 }, (_, index) => tool('t', '', String(index)))),
    )
    expect(most).toBe(5)
    expect(calls?.map(({ index, score }) => [index, score.status === 'scored' && score.value])).toEqual(
      Array.from({ length: 20 }, (_, index) => [index, index / 20]),
    )
  })

  it('asks its own prompt once for each of 50 calls, and nothing about more', async () => {
    expect(await asked(50)).toMatchObject({ result: { score: 1, evaluation: { judge: { calls: 50 } } }, requests: 50 })
    const { result, requests } = await asked(51)
    expect(result).toMatchObject({ evaluation: { score: { status: 'skipped', reason: 'refused' } } })
    expect(String(result)).toContain('rated: the run has 51 tool calls')
    expect(requests).toBe(0)
  })

  it('is skipped for a run without calls', async () => {
    await expect(refunds.generateScore(() => 1).run(runWith())).rejects.toThrow('refunds: the run has no tool call.')
  })

  it('lets steps copy the call', async () => {
    const copies = refunds.generateScore(({ call }) => Number(structuredClone({ ...call }).name === 'refund'))
    expect((await copies.run(run)).score).toBeCloseTo(2 / 3)
  })
})

describe('a scorer of retrievals', () => {
  it('is given each retrieval', async () => {
    const found = createScorer({ id: 'found', description: 'Whether something was found.', level: 'retrieval' })
    const scorer = found.generateScore(({ call }) => (call.documents?.length ?? 0) > 0)
    await expect(scorer.run(run)).rejects.toThrow('found: the run has no retrieval.')
  })
})

const create = (options: object) => () => createScorer({ id: 'x', description: '', ...options })

it('refuses other levels, and types of input and output', () => {
  expect(create({ level: 'span' })).toThrow(/expected level to be run or tool-call or retrieval .*got "span"/)
  expect(create({ level: 'tool-call', type: 'agent' })).toThrow('expected type to be left out')
})
