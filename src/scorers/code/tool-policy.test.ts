import { describe, expect, it } from 'vitest'

import { call, calls, notRecorded, runOf, score } from '../../../test/fixtures/code-runs.ts'
import { plain, AGENT_RUN_FACTS } from '../../model/facts.ts'
import { evaluate } from '../../scoring/evaluate.ts'
import { toRunInput } from '../../scoring/given/run-input.ts'
import { createToolPolicyScorer } from './tool-policy.ts'

const steps = [{}, {}] as never

/** Each letter is the name of one call, in a step of its own. */
const inSteps = (names: string) => Array.from(names, (name, step) => call(name, {}, { step }))

/** A run after these messages that refunds. */
const later = (history: readonly object[]) => ({
  ...plain(
    toRunInput({
      input: [{ role: 'user', content: 'I am Ann.' }, ...history, { role: 'user', content: 'Refund!' }],
      output: 'Done.',
    }).run,
    AGENT_RUN_FACTS,
  ),
  toolCalls: [call('refund')],
})

const turn = (id: string, name: string) => ({ ...runOf({ toolCalls: [call(name)] }), id })

describe('tool_policy', () => {
  it.each([
    [{ allowed: ['a', 'b'] }, 'ab', []],
    [{ allowed: ['a', 'b'] }, 'abc', [['not_allowed', 'c', 2]]],
    [
      { forbidden: ['x'] },
      'axx',
      [
        ['forbidden', 'x', 1],
        ['forbidden', 'x', 2],
      ],
    ],
    [
      { atMost: { a: 1, b: 0 } },
      'aba',
      [
        ['too_often', 'b', 1],
        ['too_often', 'a', 2],
      ],
    ],
    [{ before: { r: ['v', 'w'] } }, 'vwr', []],
    [{ before: { r: ['v', 'w'] } }, 'vrw', [['too_early', 'r', 1]]],
    [{ before: { r: ['v'] } }, 'w', []],
    [{ forbidden: ['x'] }, '', []],
  ] as const)('%j of %s breaches %j', (rules, names, breaches) => {
    const result = score(createToolPolicyScorer(rules), { toolCalls: inSteps(names) })
    expect(result).toMatchObject({ status: 'scored', value: breaches.length === 0 ? 1 : 0 })
    const found = result.status === 'scored' ? (result.findings ?? []) : []
    expect(found.map(({ verdict, text, places }) => [verdict, text, places?.[0]?.index])).toEqual(breaches)
  })

  it('counts what ran: calls that wait, were rejected or did not run breach nothing, and failed ones serve no rule', () => {
    const scorer = createToolPolicyScorer({ forbidden: ['x'], before: { refund: ['verify'] } })
    const notRun = (['waiting', 'rejected', 'not-executed'] as const).map((status) => call('x', {}, { status }))
    expect(score(scorer, { toolCalls: notRun })).toMatchObject({ value: 1 })
    expect(score(scorer, { toolCalls: [call('x', {}, { status: 'error' })] })).toMatchObject({ value: 0 })
    const failed = [call('verify', {}, { status: 'error' }), call('refund')]
    expect(score(scorer, { toolCalls: failed })).toMatchObject({ value: 0 })
  })

  it('takes calls of one step for made at the same time', () => {
    const scorer = createToolPolicyScorer({ before: { refund: ['verify'] } })
    const verified = call('verify', {}, { step: 0 })
    const parallel = [verified, call('refund', {}, { step: 0 })]
    expect(score(scorer, { toolCalls: parallel, steps })).toMatchObject({ value: 0 })
    const next = [verified, call('refund', {}, { step: 1 })]
    expect(score(scorer, { toolCalls: next, steps })).toMatchObject({ value: 1 })
  })

  it('counts the calls of earlier turns in the history, and skips a breach if they are not shown', () => {
    const scorer = createToolPolicyScorer({ before: { refund: ['verify'] } })
    const verified = [
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'verify', input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'verify', output: 'ok' }] },
    ]
    expect(score(scorer, later([...verified, { role: 'assistant', content: 'Hello Ann.' }]))).toMatchObject({
      value: 1,
    })
    expect(score(scorer, later([{ role: 'assistant', content: 'Hello Ann.' }]))).toMatchObject({ reason: 'no-content' })
    expect(score(scorer, later([]))).toMatchObject({ value: 0 })
  })

  it('checks the calls of a whole conversation together', async () => {
    const scorer = createToolPolicyScorer({
      before: { refund: ['verify'] },
      atMost: { refund: 1 },
      level: 'conversation',
    })
    expect((await scorer.run([turn('1', 'verify'), turn('2', 'refund')])).score).toBe(1)
    expect((await scorer.run([turn('1', 'verify'), turn('2', 'refund'), turn('3', 'refund')])).score).toBe(0)
  })

  it('says if the tool of a rule is misspelt', async () => {
    const scorer = createToolPolicyScorer({ before: { refund: ['verify_user'] } })
    const run = runOf({ availableTools: [{ name: 'verify_users' }, { name: 'refund' }], toolCalls: calls('a') })
    expect((await evaluate(scorer, run)).score).toMatchObject({ status: 'skipped', reason: 'no-such-tool' })
  })

  it('has no content where calls were not recorded, unless one that was breaches a rule', () => {
    const scorer = createToolPolicyScorer({ forbidden: ['x'], before: { refund: ['verify'] } })
    const unknown = notRecorded('toolCalls')
    expect(score(scorer, { toolCalls: calls('a'), ...unknown })).toMatchObject({ reason: 'no-content' })
    expect(score(scorer, { toolCalls: [call('refund')], ...unknown })).toMatchObject({ reason: 'no-content' })
    expect(score(scorer, { toolCalls: calls('x'), ...unknown })).toMatchObject({ value: 0 })
  })

  it('names the tools of rules without content, and others only with it', () => {
    const result = score(createToolPolicyScorer({ allowed: ['a'], atMost: { a: 1 } }), { toolCalls: calls('aax') })
    expect(result).toMatchObject({
      explanation: 'Breached: a too often, x not allowed.',
      explanationWithoutContent: expect.not.stringContaining('x not'),
    })
  })
})
