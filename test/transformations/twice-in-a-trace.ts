import { isDeepStrictEqual } from 'node:util'

import type { AgentRun } from '../../src/model/agent-run.ts'
import { buildRuns } from '../../src/runs/build-runs.ts'
import type { SourceLog, SourceSpan } from '../../src/spans/source-span.ts'
import { readScenario } from '../corpus/load.ts'
import { sourceSpan } from '../fixtures/source-span.ts'
import type { Transformation } from './transformation.ts'

/** A trace in which a program makes the same request twice, one after the other, each below a span of its own. */
export const twiceInATrace: Transformation = {
  name: 'twice in one trace',
  exceptions: [
    {
      library: /^openinference-openai-bare-/,
      scenario: /^(03-parallel|09b-two-nested|16-odd-results)\.stream\.chat$/,
      why: 'the instrumentation writes the names of parallel calls of a stream as one, so the next model call answers none of them',
    },
    {
      library: /^traceloop-langchain-/,
      scenario: /^11b-/,
      why: "the span above all others never ends when the model fails; of two requests, none gets what may be the other one's",
    },
    {
      library: /^gemini-cli-/,
      scenario: /^13-content-off$/,
      why: 'the CLI gives each model call a trace of its own; in one trace and without content, they are not connected',
    },
  ],
  check(scenario) {
    const once = inOneTrace(readScenario(scenario))
    const runs = buildRuns(once.spans, { logs: once.logs })
    const twice = twiceInOneTrace(once, idsOf(runs))
    const both = buildRuns(twice.spans, { logs: twice.logs })
    const [found, expected] = [both, [...runs, ...runs]].map((list) => list.map(outline).toSorted())
    return isDeepStrictEqual(found, expected) ? undefined : { found, expected }
  },
}

interface Recording {
  readonly spans: readonly SourceSpan[]
  readonly logs: readonly SourceLog[]
}

function outline(run: AgentRun): string {
  const { agent, toolCalls, status, children } = run
  return JSON.stringify([
    agent.name,
    run.userInput,
    run.output,
    status,
    toolCalls.map(({ name }) => name),
    children.map(outline),
  ])
}

function inOneTrace({ spans, logs }: { spans: readonly SourceSpan[]; logs: readonly SourceLog[] }): Recording {
  const traceId = spans[0]?.traceId ?? ''
  return {
    spans: spans.map((span) => copyOf(span, { traceId })),
    logs: logs.map((log) => ({ ...log, traceId: log.traceId === '' ? '' : traceId })),
  }
}

function twiceInOneTrace({ spans, logs }: Recording, ids: readonly string[]): Recording {
  const beginMs = Math.min(...spans.map(({ startTimeMs }) => startTimeMs))
  const endMs = Math.max(...spans.map(({ endTimeMs }) => endTimeMs))
  const laterMs = endMs - beginMs + 50
  const requests = [
    requestSpan(spans, FIRST, beginMs - 5, endMs + 5),
    requestSpan(spans, SECOND, beginMs + laterMs - 5, endMs + laterMs + 5),
  ]
  const again = spans.map((span) =>
    copyOf(span, {
      spanId: otherId(span.spanId),
      parentSpanId: span.parentSpanId === undefined ? SECOND : otherId(span.parentSpanId),
      startTimeMs: span.startTimeMs + laterMs,
      endTimeMs: span.endTimeMs + laterMs,
      attributes: withOtherIds(span.attributes, ids) as SourceSpan['attributes'],
      events: span.events.map(({ name, timeMs, attributes }) => ({
        name,
        timeMs: timeMs + laterMs,
        attributes: withOtherIds(attributes, ids) as SourceSpan['attributes'],
      })),
    }),
  )
  const logsAgain = logs.map((log) => ({
    ...log,
    spanId: log.spanId === '' ? '' : otherId(log.spanId),
    timeMs: log.timeMs + laterMs,
    attributes: withOtherIds(log.attributes, ids) as SourceLog['attributes'],
    body: withOtherIds(log.body, ids),
  }))
  const first = spans.map((span) => copyOf(span, { parentSpanId: span.parentSpanId ?? FIRST }))
  return { spans: [...requests, ...first, ...again], logs: [...logs, ...logsAgain] }
}

const FIRST = 'fe00000000000001'
const SECOND = 'fe00000000000002'

function requestSpan(
  [span]: readonly SourceSpan[],
  spanId: string,
  startTimeMs: number,
  endTimeMs: number,
): SourceSpan {
  const scope = { name: 'http' }
  return sourceSpan({ traceId: span?.traceId ?? '', spanId, name: 'POST /chat', scope, startTimeMs, endTimeMs })
}

/** Spans read from a file have their properties on a prototype. */
function copyOf(span: SourceSpan, changed: Partial<SourceSpan>): SourceSpan {
  const { traceId, spanId, parentSpanId, parentIsRemote, name, kind, scope, attributes, events, status } = span
  const { startTimeMs, endTimeMs, resource, droppedAttributesCount } = span
  const own = { traceId, spanId, parentSpanId, parentIsRemote, name, kind, scope, attributes, events, status }
  return { ...own, startTimeMs, endTimeMs, resource, droppedAttributesCount, ...changed }
}

function otherId(spanId: string): string {
  return spanId.replaceAll(/./g, (digit) => ((Number.parseInt(digit, 16) + 7) % 16).toString(16))
}

/** A model never uses the ids of calls and responses twice. */
function withOtherIds(value: unknown, ids: readonly string[]): unknown {
  if (typeof value === 'string') return ids.reduce((text, id) => text.replaceAll(id, `${id}z`), value)
  if (Array.isArray(value)) return value.map((item) => withOtherIds(item, ids))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withOtherIds(item, ids)]))
}

function idsOf(runs: readonly AgentRun[]): readonly string[] {
  const all = runs.flatMap((run) => [
    ...run.toolCalls.map(({ id }) => id),
    ...run.steps.flatMap(({ responseId, toolCallIds }) => [responseId, ...toolCallIds]),
    ...idsOf(run.children),
  ])
  return [...new Set(all.filter((id) => id !== undefined))]
    .filter((id) => id !== '' && id !== 'null')
    .toSorted((a, b) => b.length - a.length)
}
