import { expect, test, vi } from 'vitest'

import type { AgentRun } from '../../model/agent-run.ts'
import { createAnswerPresentScorer } from '../../scorers/code/answer-present.ts'
import { resolveOptions } from '../../engine/config/options.ts'
import { Reporter } from '../../engine/reporter.ts'
import { LiveChecks } from './live-checks.ts'

/** A run that notes whether somebody has asked what is missing in each of its tool calls. */
function createRun(output: string | undefined) {
  const run = { dialect: 'gen-ai', scope: { name: 'agents' }, agent: {}, output, toolCalls: [], steps: [] }
  const missing = vi.fn<() => readonly unknown[]>(() => [])
  Object.defineProperty(run, 'missing', { get: missing })
  Object.defineProperty(run, 'content', { get: missing })
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
