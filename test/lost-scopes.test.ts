import { describe, expect, it } from 'vitest'

import { buildRuns } from '../src/runs/build-runs.ts'
import type { SourceSpan } from '../src/spans/source-span.ts'
import { compareScenario } from './corpus/compare.ts'
import { libraryNames, loadLibrary, readScenario } from './corpus/load.ts'
import type { Scenario } from './corpus/load.ts'

/** Libraries whose names of scopes are needed: nothing else shows them, or how their spans are to be read. */
const NEEDS_SCOPES =
  /^(?:claude-code|gemini-cli|github-copilot-cli|qwen-code|laminar|voltagent|openlit|python-openlit|(?:python-)?traceloop|python-llama-index-otel|python-logfire-(?:anthropic|chat|responses))-/

/** Single scenarios, with the fact that is different. */
const EXCEPTIONS: readonly (readonly [RegExp, RegExp, string])[] = [
  [/^ai-7.*otel|^langfuse-vercel/, /^15/, 'generated objects have no steps, which show the AI SDK'],
  [/^openinference-vercel-3/, /./, "the processor's own spans have OpenInference's kinds: their status and errors"],
  [/openinference-anthropic-bare/, /stream|beside/, 'streams and their parts are known as copies by their client'],
  [/^(?:python-)?google-adk/, /^(?:09b|11)/, 'hand-overs and failures are known by the library'],
  [/^pydantic-ai/, /^15/, 'structured answers'],
  [/^python-any-agent-google/, /^01/, "spans of ADK's own tracer"],
  [/^python-openinference-beeai-0\.1\.6/, /./, 'spans of events'],
  [/^python-openinference-google-genai/, /./, 'calls that the client makes by itself are in its reply'],
  [/^python-openinference-pydantic-ai-0\.1\.[36]/, /./, "the agent's name"],
  [/^python-openinference-smolagents/, /^11b/, 'no span shows the library'],
  [/^python-openinference-strands-agents/, /^05/, 'the failed tool'],
  [/^python-otel-(?:genai-)?openai-agents/, /^(?:09b|\d)/, 'hand-overs; instructions of the Responses API'],
  [/^python-strands-agents-0\.1\.4/, /^03/, 'the tool that failed'],
]

function withoutScope(span: SourceSpan): SourceSpan {
  return { ...span, scope: { name: '' } }
}

function newDifferences(scenario: Scenario): readonly string[] {
  const { spans, logs } = readScenario(scenario)
  const pathsOf = (given: readonly SourceSpan[]) =>
    compareScenario(scenario, buildRuns(given, { logs })).map(({ path }) => path)
  const known = new Set(pathsOf(spans))
  return pathsOf(spans.map(withoutScope)).filter((path) => !known.has(path))
}

describe.each(libraryNames().filter((name) => !NEEDS_SCOPES.test(name)))('%s', (library) => {
  it('gives the runs that were played from a file that lost the names of scopes', () => {
    const wrong = loadLibrary(library)
      .filter(({ id }) => !EXCEPTIONS.some(([names, ids]) => names.test(library) && ids.test(id)))
      .map((scenario) => [scenario.id, newDifferences(scenario)] as const)
      .filter(([, paths]) => paths.length > 0)
    expect(wrong).toEqual([])
  })
})

it('needs every exception that it lists', () => {
  const needed = EXCEPTIONS.filter(([names, ids]) =>
    libraryNames()
      .filter((name) => names.test(name))
      .flatMap((name) => loadLibrary(name))
      .some((scenario) => ids.test(scenario.id) && newDifferences(scenario).length > 0),
  )
  expect(needed).toEqual(EXCEPTIONS)
})
