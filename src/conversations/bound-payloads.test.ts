import * as fc from 'fast-check'
import { expect, it } from 'vitest'

import type { AgentRun } from '../model/agent-run.ts'
import { call, runOf } from '../../test/fixtures/code-runs.ts'
import { boundPayloads } from './bound-payloads.ts'
import { toConversationRun } from './conversation-run.ts'
import { joinMembers } from './join-members.ts'
import { toMember } from './member.ts'

const MAX = 262_144

/** A run at a minute, whose call has arguments and a result of so many characters. */
const runAt = (minute: number, argumentsLength: number, resultLength: number): AgentRun =>
  runOf({
    id: `run-${minute}`,
    conversationId: 'c',
    startTimeMs: minute * 60_000,
    toolCalls: [call('find', 'a'.repeat(argumentsLength), { result: 'r'.repeat(resultLength) })],
  })

const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0)

const sizeOf = (runs: readonly AgentRun[]): number =>
  runs.reduce(
    (sum, { toolCalls, children }) =>
      sum +
      sizeOf(children) +
      toolCalls.reduce((all, each) => all + lengthOf(each.arguments) + lengthOf(each.result), 0),
    0,
  )

it('leaves out the results of the oldest runs of a conversation first, and names them', () => {
  const runs = Array.from({ length: 12 }, (_, minute) => runAt(minute, 100, 30_000))
  const conversation = joinMembers(runs.toReversed().map(toMember), { endedBy: 'idle' })
  const kept = conversation.runs.map(({ toolCalls }) => toolCalls[0])
  expect(kept.map((each) => each?.result === undefined)).toEqual(runs.map((_, index) => index < 4))
  expect(kept.every((each) => each?.arguments !== undefined)).toBe(true)
  expect(conversation.turns.flatMap((turn) => turn.runs)).toEqual(conversation.runs)
  expect(conversation.runs[0]?.missing).toContainEqual({ what: 'toolCalls[0].result', why: 'limit' })
  const { missing } = toConversationRun(conversation)
  expect(missing.filter(({ what }) => what.endsWith('.result')).map(({ what }) => what)).toEqual(
    [0, 1, 2, 3].map((index) => `toolCalls[${index}].result`),
  )
})

it('leaves out arguments only when no result is left', () => {
  const bounded = boundPayloads(Array.from({ length: 20 }, (_, minute) => runAt(minute, 30_000, 2000)))
  expect(bounded.every(({ toolCalls }) => toolCalls[0]?.result === undefined)).toBe(true)
  expect(bounded.findIndex(({ toolCalls }) => toolCalls[0]?.arguments !== undefined)).toBe(12)
})

it('counts the calls of agents below, never exceeds the bound, and changes nothing that fits', () => {
  const lengths = fc.tuple(fc.nat(60_000), fc.nat(60_000))
  fc.assert(
    fc.property(fc.array(fc.tuple(lengths, lengths), { maxLength: 8 }), (each) => {
      const runs = each.map(([own, nested], minute) => ({
        ...runAt(minute, ...own),
        children: [runAt(minute, ...nested)],
      }))
      const bounded = boundPayloads(runs)
      expect(sizeOf(bounded)).toBeLessThanOrEqual(MAX)
      expect(bounded === runs).toBe(sizeOf(runs) <= MAX)
    }),
  )
})
