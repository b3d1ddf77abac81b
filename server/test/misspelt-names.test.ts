import { buildRuns, toSpanSet } from 'spanscore/engine'
import { createAnswerPresentScorer, createToolCallAccuracyScorerCode } from 'spanscore/scorers/prebuilt'
import { expect, it, vi } from 'vitest'

import { loadLibrary, readScenario } from '../../test/corpus/load.ts'
import { ServiceScorer } from '../src/score/service-scorer.ts'
import { ServiceMeters } from '../src/send/service-meters.ts'

/** A recorded run of an agent with a name, which was offered a tool. */
function namedRun() {
  for (const scenario of loadLibrary('ai-6.0.326')) {
    const { spans } = readScenario(scenario)
    for (const run of buildRuns(spans)) {
      const [tool] = run.availableTools ?? []
      if (run.agent.name === undefined || tool === undefined) continue
      return { run, agent: run.agent.name, tool: tool.name, spans: toSpanSet(spans.map(({ spanId }) => spanId)) }
    }
  }
  throw new Error('expected a run of an agent with a name and a tool')
}

it('warns of an agent that no run is of, and of a tool that was never offered, if a similar one was, each once', async () => {
  const { run, agent, tool, spans } = namedRun()
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined)
  const service = new ServiceScorer({
    options: {
      scorers: [
        { scorer: createAnswerPresentScorer(), agent: `${agent}s` },
        createToolCallAccuracyScorerCode({ id: 'uses_tool', expectedTool: `${tool}s` }),
      ],
    },
    meters: new ServiceMeters('an instance', undefined),
  })
  const offer = () => service.offer({ run, spans, isCounted: true }, new AbortController().signal)
  for (let count = 1; count < 100; count += 1) await offer()
  expect(warn.mock.calls.map(([message]) => message)).toEqual([
    `uses_tool: the expected tool ${tool}s was never offered to this agent, and ${tool} is. Correct the name.`,
  ])
  for (let count = 0; count < 50; count += 1) await offer()
  expect(warn.mock.calls.slice(1)).toEqual([
    [
      `No agent named ${agent}s was among 100 runs; seen: ${agent}. Scorer answer_present scores none of them: correct its agent.`,
      { type: 'spanscore', code: 'SPANSCORE_NO_SUCH_AGENT' },
    ],
  ])
  await service.shutdown()
  expect(warn).toHaveBeenCalledTimes(2)
  warn.mockRestore()
})
