import { describe, expect, it } from 'vitest'
import type { AgentRun } from '../src/model/agent-run.ts'
import { buildRuns } from '../src/runs/build-runs.ts'
import { isContentAttribute } from '../src/spans/content/content-attributes.ts'
import type { SourceSpan } from '../src/spans/source-span.ts'
import { libraryNames, loadLibrary, readScenario } from './corpus/load.ts'

type Attributes = Readonly<Record<string, unknown>>

function mapAttributes(
  span: SourceSpan,
  map: (entries: readonly (readonly [string, unknown])[]) => readonly (readonly [string, unknown])[],
): SourceSpan {
  const mapped = (attributes: Attributes) => Object.fromEntries(map(Object.entries(attributes)))
  const events = span.events.map((event) => ({ ...event, attributes: mapped(event.attributes) }))
  return { ...span, attributes: mapped(span.attributes), events }
}

function mapValues(span: SourceSpan, map: (value: unknown) => unknown): SourceSpan {
  return mapAttributes(span, (entries) => entries.map(([key, value]) => [key, map(value)]))
}

/** Changes that collectors, backends and their exports make to spans without loss of facts. */
const FORMS: readonly (readonly [string, (span: SourceSpan) => SourceSpan])[] = [
  ['attributes in another order', (span) => mapAttributes(span, (entries) => entries.toReversed())],
  [
    'every value as text, as in a column of texts',
    (span) => mapValues(span, (value) => (typeof value === 'string' ? value : JSON.stringify(value))),
  ],
  [
    'a later convention for the name of the provider',
    (span) =>
      mapAttributes(span, (entries) =>
        entries.map(([key, value]) => [key === 'gen_ai.system' ? 'gen_ai.provider.name' : key, value]),
      ),
  ],
  [
    'an earlier convention for counts of tokens',
    (span) => mapAttributes(span, (entries) => entries.map(([key, value]) => [EARLIER.get(key) ?? key, value])),
  ],
]

const EARLIER: ReadonlyMap<string, string> = new Map([
  ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'],
  ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'],
])

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

describe.each(libraryNames())('%s', (name) => {
  const scenarios = loadLibrary(name).filter(({ id }) => !AMBIGUOUS.test(id))

  it.each(FORMS)('gives the same runs with %s', (_, change) => {
    for (const scenario of scenarios) {
      const { spans, logs } = readScenario(scenario)
      const runs = buildRuns(spans.map(change), { logs }).map(factsOf)
      expect({ [scenario.id]: runs }).toEqual({ [scenario.id]: buildRuns(spans, { logs }).map(factsOf) })
    }
  })

  it('is known to have calls that are not recorded, or has them, if a collector removed all content', () => {
    const wrong: string[] = []
    for (const scenario of scenarios.filter(({ id }) => !NEVER_RUN.test(id))) {
      const { spans, logs } = readScenario(scenario)
      const made = new Map(buildRuns(spans, { logs }).map((run) => [run.id, run]))
      for (const run of buildRuns(spans.map(withoutContent))) {
        const hasLostCalls = run.toolCalls.length === 0 && (made.get(run.id)?.toolCalls.length ?? 0) > 0
        if (hasLostCalls && run.missing.every(({ what }) => what !== 'toolCalls')) wrong.push(scenario.id)
      }
    }
    expect(wrong).toEqual([])
  })
})

/** Calls without a span, in libraries that write one for each local tool: of the provider's tools, and of tools that a user must allow. */
const NEVER_RUN = /^(20-provider-tool|approval)/

function withoutContent(span: SourceSpan): SourceSpan {
  return mapAttributes(span, (entries) => entries.filter(([key]) => !isContentAttribute(key)))
}
