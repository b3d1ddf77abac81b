import { describe, expect, it } from 'vitest'

import type { AgentRun } from '../model/agent-run.ts'
import { call, calls, runOf } from '../../test/fixtures/code-runs.ts'
import { reduceRun } from './reduce-run.ts'

const helper = (more: Partial<AgentRun> = {}): AgentRun =>
  runOf({ id: 'helper', systemInstructions: 'Only search.', toolCalls: [call('search', { q: 'x' })], ...more })

describe('a reduced run', () => {
  it('keeps what agents below it called and answered, without their instructions and steps', () => {
    const step = { toolCallIds: [], finishReasons: [], usage: {}, status: 'ok' } as const
    const run = runOf({ systemInstructions: 'Be brief.', children: [helper({ steps: [step], output: 'Found.' })] })
    const { systemInstructions, children } = reduceRun(run)
    expect(systemInstructions).toBe('Be brief.')
    expect(children).toMatchObject([
      { output: 'Found.', steps: [], toolCalls: [{ name: 'search', arguments: { q: 'x' } }] },
    ])
    expect(children[0]?.systemInstructions).toBeUndefined()
    expect(children[0]?.missing).toContainEqual({ what: 'systemInstructions', why: 'limit' })
  })

  it('keeps ten agents below each and a hundred calls of all levels together, and says that there were more', () => {
    const nested = helper({ children: Array.from({ length: 15 }, () => helper({ toolCalls: calls('abcdefgh') })) })
    const run = runOf({ toolCalls: calls('x'.repeat(60)), children: [nested, nested] })
    const reduced = reduceRun(run)
    const all = (one: AgentRun): readonly AgentRun[] => [one, ...one.children.flatMap(all)]
    const kept = all(reduced)
    expect(kept).toHaveLength(23)
    expect(kept.flatMap(({ toolCalls }) => toolCalls)).toHaveLength(100)
    expect(reduced.toolCalls).toHaveLength(60)
    expect(reduced.children[1]?.missing).toContainEqual({ what: 'children', why: 'limit' })
    expect(kept.some(({ missing }) => missing.some(({ what }) => what === 'toolCalls'))).toBe(true)
  })

  it('keeps arguments and results of agents below within the room of the run', () => {
    const result = 'r'.repeat(20_000)
    const run = runOf({
      toolCalls: [call('ask', {}, { result })],
      children: [helper({ toolCalls: [call('search', {}, { result }), call('search', {}, { result })] })],
    })
    expect(JSON.stringify(reduceRun(run)).length).toBeLessThan(40_000)
    expect(reduceRun(run).children[0]?.missing).toContainEqual({ what: 'toolCalls[0].result', why: 'limit' })
  })

  it('is itself if it is reduced again', () => {
    const run = reduceRun(runOf({ toolCalls: calls('ab'), children: [helper()] }))
    expect(reduceRun(run)).toMatchObject({
      toolCalls: run.toolCalls,
      children: [{ toolCalls: run.children[0]?.toolCalls }],
    })
  })
})
