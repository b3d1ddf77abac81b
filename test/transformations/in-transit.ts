import { isDeepStrictEqual } from 'node:util'

import type { AgentRun } from '../../src/model/agent-run.ts'
import { readTraceJson } from '../../src/otlp/trace-json.ts'
import { buildRuns } from '../../src/runs/build-runs.ts'
import { isContentAttribute } from '../../src/spans/content/content-attributes.ts'
import type { SourceSpan } from '../../src/spans/source-span.ts'
import { loadLibrary, readScenario } from '../corpus/load.ts'
import type { Scenario } from '../corpus/load.ts'
import type { Transformation } from './transformation.ts'

type Attributes = Readonly<Record<string, unknown>>

function mapAttributes(
  span: SourceSpan,
  map: (entries: readonly (readonly [string, unknown])[]) => readonly (readonly [string, unknown])[],
): SourceSpan {
  const mapped = (attributes: Attributes) => Object.fromEntries(map(Object.entries(attributes)))
  const events = span.events.map((event) => ({ ...event, attributes: mapped(event.attributes) }))
  return { ...span, attributes: mapped(span.attributes), events }
}

/**
 * Changes that collectors, backends and their exports make to spans without loss of facts, all at once: attributes in another order, every
 * value as text, as in a column of texts, and names of later and earlier conventions.
 */
function otherForm(span: SourceSpan): SourceSpan {
  return mapAttributes(span, (entries) =>
    entries
      .toReversed()
      .map(([key, value]) => [OTHER_NAMES.get(key) ?? key, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
}

const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['gen_ai.system', 'gen_ai.provider.name'],
  ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'],
  ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'],
])

type Json = Record<string, unknown>

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Changes all objects of a JSON document, from the inside. */
function mapObjects(value: unknown, map: (object: Json) => Json): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => mapObjects(item, map))
  if (!isJson(value)) return value
  return map(Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapObjects(item, map)])))
}

const listIn = (object: Json, key: string): Json[] => {
  const list = object[key]
  return Array.isArray(list) ? list.filter(isJson) : []
}

function toDate(nanoseconds: unknown): unknown {
  if (typeof nanoseconds !== 'string') return nanoseconds
  const date = new Date(Number(BigInt(nanoseconds) / 1_000_000n)).toISOString().slice(0, -1)
  return `${date}${String(BigInt(nanoseconds) % 1_000_000n).padStart(6, '0')}Z`
}

/** The plain value of an attribute. */
function plain(value: unknown): unknown {
  if (!isJson(value)) return value
  if (isJson(value.arrayValue)) return listIn(value.arrayValue, 'values').map(plain)
  if (isJson(value.kvlistValue)) return plainAttributes(value.kvlistValue, 'values')
  if (typeof value.intValue === 'string') return Number(value.intValue)
  return value.stringValue ?? value.intValue ?? value.doubleValue ?? value.boolValue ?? value.bytesValue
}

function plainAttributes(object: Json, key: string): Json {
  return Object.fromEntries(listIn(object, key).map((item) => [String(item.key), plain(item.value)]))
}

/** Each span by itself, as Amazon CloudWatch keeps it. */
function toCloudWatch(traces: unknown): unknown[] {
  if (!isJson(traces)) return []
  return listIn(traces, 'resourceSpans').flatMap((entry) => {
    const resource = { attributes: isJson(entry.resource) ? plainAttributes(entry.resource, 'attributes') : {} }
    return listIn(entry, 'scopeSpans').flatMap(({ scope = {}, ...list }) =>
      listIn(list, 'spans').map((span) => ({
        ...span,
        resource,
        scope,
        kind: ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'][Number(span.kind ?? 0)],
        attributes: plainAttributes(span, 'attributes'),
        events: listIn(span, 'events').map((event) => ({ ...event, attributes: plainAttributes(event, 'attributes') })),
        status: isJson(span.status) ? { ...span.status, code: toCodeName(span.status.code) } : {},
      })),
    )
  })
}

/** Some recordings have the code's name. */
function toCodeName(code: unknown): string {
  if (typeof code === 'string') return code.replace('STATUS_CODE_', '')
  return ['UNSET', 'OK', 'ERROR'][Number(code ?? 0)] ?? 'UNSET'
}

/** Changes that pipelines make to a file of OTLP/JSON without loss of facts. */
const FILES: readonly (readonly [string, (traces: unknown) => unknown])[] = [
  [
    'the names of the protobuf definition',
    (traces) =>
      mapObjects(traces, (object) =>
        Object.fromEntries(
          Object.entries(object).map(([key, value]) => [
            key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
            value,
          ]),
        ),
      ),
  ],
  [
    'dates in place of nanoseconds',
    (traces) =>
      mapObjects(traces, (object) =>
        Object.fromEntries(
          Object.entries(object).map(([key, value]) => [key, key.endsWith('UnixNano') ? toDate(value) : value]),
        ),
      ),
  ],
  [
    'scopes in attributes',
    (traces) =>
      mapObjects(traces, (object) => {
        const { scope, ...others } = object
        if (!isJson(scope) || typeof scope.name !== 'string') return object
        const attribute = { key: 'otel.scope.name', value: { stringValue: scope.name } }
        const marked = (record: Json) => ({ ...record, attributes: [...listIn(record, 'attributes'), attribute] })
        return { ...others, spans: listIn(object, 'spans').map(marked) }
      }),
  ],
  ['spans by themselves, as in CloudWatch', toCloudWatch],
  [
    'a copy of each span by an exporter that hides content',
    (traces) => {
      const hidden = mapObjects(traces, (object) => {
        const value = isJson(object.value) ? object.value : {}
        const isHidden =
          typeof object.key === 'string' && isContentAttribute(object.key) && typeof value.stringValue === 'string'
        return isHidden ? { ...object, value: { stringValue: '[REDACTED]' } } : object
      })
      return [hidden, traces]
    },
  ],
]

/** The facts that users score. */
function factsOf(run: AgentRun): object {
  const { id, agent, userInput, output, systemInstructions, status, usage } = run
  const tools = run.availableTools?.map(({ name }) => name)
  const calls = run.toolCalls.map(({ name, arguments: given, result, status: ended }) => ({
    name,
    given,
    result,
    ended,
  }))
  const children = run.children.map(factsOf)
  return { id, agent, userInput, output, systemInstructions, status, usage, tools, calls, children }
}

/** Structured values are written as JSON text where only texts are stored, and a text that is JSON looks the same. */
const AMBIGUOUS = /^(14-odd-values|16-odd-results)/

/** What collectors, backends and their exports make of spans and files. */
export const inTransit: readonly Transformation[] = [
  {
    name: 'with attributes in another order, as texts, and with the names of other conventions',
    exceptions: [],
    check(scenario) {
      if (AMBIGUOUS.test(scenario.id)) return undefined
      const { spans, logs } = readScenario(scenario)
      const [found, expected] = [spans.map(otherForm), spans].map((each) => buildRuns(each, { logs }).map(factsOf))
      return isDeepStrictEqual(found, expected) ? undefined : { found, expected }
    },
  },
  ...FILES.map(([file, change]) => ({
    name: `from a file with ${file}`,
    exceptions: [],
    check: ({ library, id, traces, logs }: Scenario) => {
      const first = loadLibrary(library).filter((each) => !AMBIGUOUS.test(each.id))
      if (!first.slice(0, 2).some((each) => each.id === id)) return undefined
      const runsOf = (given: unknown) => {
        const { spans } = readTraceJson(given).batch
        return buildRuns(spans, { logs: logs === undefined ? [] : readTraceJson(logs).batch.logs }).map(factsOf)
      }
      const [found, expected] = [change(traces), traces].map(runsOf)
      return isDeepStrictEqual(found, expected) ? undefined : { found, expected }
    },
  })),
  {
    name: 'or known to lack calls, if a collector removed all content',
    exceptions: [],
    check(scenario) {
      if (AMBIGUOUS.test(scenario.id) || NEVER_RUN.test(scenario.id)) return undefined
      const { spans, logs } = readScenario(scenario)
      const made = new Map(buildRuns(spans, { logs }).map((run) => [run.id, run]))
      const wrong = buildRuns(spans.map(withoutContent)).filter(
        (run) =>
          run.toolCalls.length === 0 &&
          (made.get(run.id)?.toolCalls.length ?? 0) > 0 &&
          run.missing.every(({ what }) => what !== 'toolCalls'),
      )
      return wrong.length === 0 ? undefined : wrong.map(({ id }) => id)
    },
  },
]

/** Calls without a span, in libraries that write one for each local tool: of the provider's tools, and of tools that a user must allow. */
const NEVER_RUN = /^(20-provider-tool|approval)/

function withoutContent(span: SourceSpan): SourceSpan {
  return mapAttributes(span, (entries) => entries.filter(([key]) => !isContentAttribute(key)))
}
