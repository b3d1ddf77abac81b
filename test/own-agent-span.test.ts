import { describe, expect, it } from 'vitest'

import type { AgentRun } from '../src/model/agent-run.ts'
import { buildRuns } from '../src/runs/build-runs.ts'
import type { SourceSpan } from '../src/spans/source-span.ts'
import { orderOf } from './corpus/hooks-order.ts'
import { libraryNames, loadLibrary, readScenario } from './corpus/load.ts'
import type { Scenario } from './corpus/load.ts'
import { replay } from './corpus/replay.ts'
import { sourceSpan } from './fixtures/source-span.ts'

const OWN = '00f067aa0ba902b7'

/** The spans of a recording below an agent's span that the application wrote, which states neither question nor answer. */
function belowOwnSpan(spans: readonly SourceSpan[]): readonly SourceSpan[] {
  const known = new Set(spans.map(({ spanId }) => spanId))
  const own = sourceSpan({
    traceId: spans[0]!.traceId,
    spanId: OWN,
    name: 'invoke_agent concierge',
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'concierge' },
    startTimeMs: Math.min(...spans.map(({ startTimeMs }) => startTimeMs)) - 1,
    endTimeMs: Math.max(...spans.map(({ endTimeMs }) => endTimeMs)) + 1,
  })
  const below = spans.map((span) => (known.has(span.parentSpanId ?? '') ? span : withParent(span, OWN)))
  return [...below, own]
}

/** The getters of a span of a file are kept. */
function withParent(span: SourceSpan, parentSpanId: string): SourceSpan {
  return Object.create(span, { parentSpanId: { value: parentSpanId } })
}

const factsOf = ({ userInput, output, toolCalls, steps, missing, children }: AgentRun): unknown => ({
  userInput,
  output,
  toolCalls: toolCalls.map(({ name, arguments: args, result }) => ({ name, args, result })),
  steps: steps.length,
  missing,
  children: children.map(factsOf),
})

const graphs: readonly Scenario[] = libraryNames()
  .filter((name) => name.includes('langgraph'))
  .flatMap(loadLibrary)
  .filter((scenario) => {
    const runs = buildRuns(readScenario(scenario).spans)
    return runs.length === 1 && runs.every(({ steps }) => steps.length > 0)
  })

describe("A graph below an application's own agent span is the loop of that agent", () => {
  it.each(graphs)('$library, $id', (scenario) => {
    const { spans } = readScenario(scenario)
    const [alone] = buildRuns(spans)
    const all = belowOwnSpan(spans)
    for (const runs of [buildRuns(all), replay(all, [], orderOf(all, 'all'))]) {
      expect(runs.map(({ agent }) => agent.name)).toEqual(['concierge'])
      expect(runs.map(factsOf)).toEqual([factsOf(alone!)])
    }
  })
})
