import { buildRuns } from '../../src/runs/build-runs.ts'
import { eventWithoutContent, nameWithoutContent, withoutContent } from '../../src/spans/strip-content.ts'
import type { AgentRun } from '../../src/model/agent-run.ts'
import { recognise } from '../../src/spans/recognise.ts'
import type { SourceSpan } from '../../src/spans/source-span.ts'
import { readScenario } from '../corpus/load.ts'
import type { Transformation } from './transformation.ts'

/** Spans after `stripContent`. */
export const stripped: Transformation = {
  name: 'or rather nothing of what was said is left, after stripContent',
  exceptions: [],
  check(scenario) {
    const { spans, logs } = readScenario(scenario)
    const words = buildRuns(spans, { logs }).flatMap(wordsOf)
    const leaks = spans.flatMap((span) => leaksOf(span, words))
    return leaks.length === 0 ? undefined : [...new Set(leaks)]
  },
}

/** Shorter texts (a city, a number) also occur in names and ids. */
const MIN_LENGTH = 16

/** Everything that was said in a run: questions, instructions, answers, and texts in arguments and results. */
function wordsOf(run: AgentRun): readonly string[] {
  const said: unknown[] = [run.userInput, run.systemInstructions, run.output]
  for (const call of run.toolCalls) said.push(call.arguments, call.result, call.error?.message)
  return [...said.flatMap(textsIn), ...run.children.flatMap(wordsOf)].filter((text) => text.length >= MIN_LENGTH)
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** Where any of these words are left in a span after `stripContent`. */
function leaksOf(span: SourceSpan, words: readonly string[]): readonly string[] {
  const dialect = recognise(span.scope.name, span.attributes, span.name)
  const kept = withoutContent(span.attributes, dialect)
  const left: (readonly [place: string, value: unknown])[] = Object.entries(kept)
  left.push(['the name', nameWithoutContent(span.name, span.attributes, kept)])
  for (const { name, attributes } of span.events) {
    const event = eventWithoutContent({ name, time: [0, 0], attributes }, dialect)
    for (const [key, value] of Object.entries(event.attributes ?? {})) left.push([`${name}: ${key}`, value])
  }
  return left.flatMap(([place, value]) => (isSaid(value, words) ? [place] : []))
}

function isSaid(value: unknown, words: readonly string[]): boolean {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return words.some((word) => text.includes(word) || text.includes(JSON.stringify(word).slice(1, -1)))
}
