import { expect, test, vi } from 'vitest'

import type { AgentRun } from '../../model/agent-run.ts'
import { createFaithfulnessScorer } from '../../scorers/judge/items/faithfulness.ts'
import { createAnswerPresentScorer } from '../../scorers/code/answer-present.ts'
import { resolveOptions } from '../../engine/config/options.ts'
import { Reporter } from '../../engine/reporter.ts'
import { LiveChecks } from './live-checks.ts'

/** A run that notes whether somebody has asked what is missing in each of its tool calls. */
function createRun(output: string | undefined) {
  const run = {
    dialect: 'gen-ai',
    scope: { name: 'agents' },
    agent: {},
    userInput: output,
    output,
    toolCalls: [],
    steps: [],
  }
  const missing = vi.fn<() => readonly unknown[]>(() => [])
  Object.defineProperty(run, 'missing', { get: missing })
  Object.defineProperty(run, 'content', { get: () => (missing(), 'none') })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is read of a run
  return { run: run as unknown as AgentRun, missing }
}

test('What is missing in thousands of tool calls is not asked of a run with content, only of one without', () => {
  const reporter = new Reporter()
  const notify = vi.spyOn(reporter, 'notify').mockReturnValue(undefined)
  const { scorers } = resolveOptions({ scorers: [createAnswerPresentScorer()] })
  const live = new LiveChecks(scorers, reporter, () => true)
  const recorded = createRun('Page 1.')
  live.look(recorded.run)
  expect(recorded.missing).not.toHaveBeenCalled()
  expect(notify).not.toHaveBeenCalled()
  const bare = createRun(undefined)
  live.look(bare.run)
  expect(bare.missing).toHaveBeenCalled()
  expect(notify).toHaveBeenCalledOnce()
})

test('A judge without a key is named a second after the start, before any run', () => {
  vi.useFakeTimers()
  try {
    vi.stubEnv('OPENAI_API_KEY', undefined)
    const reporter = new Reporter()
    const notify = vi.spyOn(reporter, 'notify').mockReturnValue(undefined)
    const { scorers } = resolveOptions({ scorers: [createFaithfulnessScorer({ model: 'openai/gpt-5-mini' })] })
    const live = new LiveChecks(scorers, reporter, () => true)
    vi.advanceTimersByTime(999)
    expect(notify).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(notify).toHaveBeenCalledExactlyOnceWith('SPANSCORE_JUDGE', expect.stringContaining('OPENAI_API_KEY'), {
      subject: 'openai/gpt-5-mini',
    })
    live.conclude()
  } finally {
    vi.useRealTimers()
    vi.unstubAllEnvs()
  }
})
