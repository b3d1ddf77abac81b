import { describe, expect, test } from 'vitest'

import { eventWithoutContent, isStripped } from '../src/spans/strip-content.ts'
import type { Dialect } from '../src/spans/dialect.ts'
import { allDialects } from '../src/spans/dialects/all.ts'
import { recognise } from '../src/spans/recognise.ts'
import type { SourceSpan } from '../src/spans/source-span.ts'
import { libraryNames, loadLibrary, readScenario } from './corpus/load.ts'

/** By dialect, a recorded span for each set of attributes and events that its spans have. */
const recorded = new Map<Dialect, Map<string, SourceSpan>>()
for (const library of libraryNames()) {
  for (const span of loadLibrary(library).flatMap((scenario) => readScenario(scenario).spans)) {
    const dialect = recognise(span.scope.name, span.attributes, span.name)
    if (dialect === undefined) continue
    const spans = recorded.get(dialect) ?? new Map<string, SourceSpan>()
    recorded.set(dialect, spans)
    const events = new Set(span.events.map((event) => event.name))
    spans.set([dialect.roleOf(span), ...Object.keys(span.attributes), ...events].join(), span)
  }
}

/** What the readers of content read in addition: kinds, types, counts, states, ids and names that a library gave. */
const NO_CONTENT: ReadonlySet<string> = new Set([
  'agent.name',
  'ag2.span.type',
  'agentops.span.kind',
  'ai.operationId',
  'ai.response.finish_reason',
  'ai.response.finishReason',
  'ai.usage.completionTokens',
  'ai.usage.outputTokens',
  'code.args.positional.count',
  'code.function.return.type',
  'error.type',
  'gcp.vertex.agent.event_id',
  'gen_ai.agent.invocation.end_reason',
  'gen_ai.operation.name',
  'gen_ai.provider.name',
  'gen_ai.request.choice.count',
  'gen_ai.request.model',
  'gen_ai.response.finish_reasons',
  'gen_ai.response.model',
  'gen_ai.system',
  'gen_ai.tool.call.id',
  'gen_ai.tool.call.outcome',
  'gen_ai.tool.name',
  'gen_ai.tool.status',
  'gen_ai.usage.output_tokens',
  'genkit:metadata:subtype',
  'genkit:type',
  'graph.node.id',
  'input.mime_type',
  'langfuse.observation.level',
  'langfuse.observation.type',
  'langsmith.span.kind',
  'langsmith.trace.name',
  'mastra.metadata.resumedFromSpanId',
  'mcp.method.name',
  'openinference.span.kind',
  'output.mime_type',
  'pydantic_ai.new_message_index',
  'pydantic_ai.tool.deferral.name',
  'response.has_tool_call',
  'response.model_output_truncated',
  'target',
  'tool.name',
  'tool.status',
  'tool_input_truncated',
  'traceId',
])

/** The same for events. */
const NO_CONTENT_OF_EVENTS: ReadonlySet<string> = new Set([
  'content_truncated',
  'exception.type',
  'output_truncated',
  'role',
])

/** Everything that a dialect reads content with, error texts among it. */
const READERS = [
  'systemInstructions',
  'input',
  'output',
  'toolCalls',
  'transcript',
  'toolDefinitions',
  'toolArguments',
  'toolResult',
  'outcome',
] as const satisfies readonly (keyof Dialect)[]

/** A span that has no attribute at all, and one span for each recorded span. */
function spansOf(dialect: Dialect): SourceSpan[] {
  const spans = [...(recorded.get(dialect)?.values() ?? [])]
  const [first] = spans
  return first === undefined ? [] : [{ ...plain(first), attributes: {}, events: [] }, ...spans]
}

function plain(span: SourceSpan): SourceSpan {
  const { traceId, spanId, startTimeMs, endTimeMs, name, kind, scope, attributes, events, status, resource } = span
  return { ...span, traceId, spanId, startTimeMs, endTimeMs, name, kind, scope, attributes, events, status, resource }
}

/** The attribute keys that the content readers of a dialect ask a span and its events for. */
interface KeysRead {
  readonly ofSpan: Set<string>
  /** Of events: the name of the event, then the key. */
  readonly ofEvents: Map<string, Set<string>>
}

function noting(attributes: SourceSpan['attributes'], keys: Set<string>): SourceSpan['attributes'] {
  return new Proxy(attributes, {
    get(target, key) {
      if (typeof key === 'string') keys.add(key)
      return Reflect.get(target, key)
    },
  })
}

function noteKeysRead(dialect: Dialect, span: SourceSpan, { ofSpan, ofEvents }: KeysRead): void {
  const events = span.events.map((event) => {
    const keys = ofEvents.get(event.name) ?? new Set()
    ofEvents.set(event.name, keys)
    return { ...event, attributes: noting(event.attributes, keys) }
  })
  const noted = { ...plain(span), attributes: noting(span.attributes, ofSpan), events }
  for (const reader of READERS) dialect[reader]?.(noted, [])
}

const asked = new Map(
  allDialects.map((dialect) => {
    const keys: KeysRead = { ofSpan: new Set(), ofEvents: new Map() }
    for (const span of spansOf(dialect)) noteKeysRead(dialect, span, keys)
    return [dialect, keys]
  }),
)

/** The keys of an event that `stripContent` leaves in. */
function leftIn(name: string, keys: ReadonlySet<string>, dialect: Dialect): string[] {
  const attributes = Object.fromEntries([...keys].map((key) => [key, 'x']))
  return Object.keys(eventWithoutContent({ name, time: [0, 0], attributes }, dialect).attributes ?? {})
}

describe.each(allDialects.map((dialect) => [dialect.name, dialect] as const))('The dialect %s', (_name, dialect) => {
  test('reads content from no attribute that stripContent leaves in', () => {
    const left = [...(asked.get(dialect)?.ofSpan ?? [])].filter(
      (key) => !isStripped(key, dialect) && !NO_CONTENT.has(key),
    )
    expect(left.toSorted()).toEqual([])
  })

  test('reads content from no attribute of an event that stripContent leaves in', () => {
    const left = [...(asked.get(dialect)?.ofEvents ?? [])].flatMap(([name, keys]) =>
      leftIn(name, keys, dialect).flatMap((key) => (NO_CONTENT_OF_EVENTS.has(key) ? [] : [`${name}: ${key}`])),
    )
    expect(left.toSorted()).toEqual([])
  })
})

test('Every exception is read by some dialect', () => {
  const all = [...asked.values()]
  const keys = new Set(
    all.flatMap(({ ofSpan, ofEvents }) => [...ofSpan, ...[...ofEvents.values()].flatMap((of) => [...of])]),
  )
  expect([...NO_CONTENT, ...NO_CONTENT_OF_EVENTS].filter((key) => !keys.has(key))).toEqual([])
})
