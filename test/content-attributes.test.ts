import { describe, expect, it } from 'vitest'

import { buildRuns } from '../src/runs/build-runs.ts'
import type { AgentRun } from '../src/model/agent-run.ts'
import { isContentAttribute } from '../src/spans/content/content-attributes.ts'
import { recognise } from '../src/spans/recognise.ts'
import type { SourceSpan } from '../src/spans/source-span.ts'
import { libraryNames, loadLibrary, readScenario } from './corpus/load.ts'

/** Shorter texts (a city, a number) also occur in names and ids. */
const MIN_LENGTH = 16

/** The messages of exceptions are removed together with the content, but are not content. */
const EXCEPTION = /^error\.(?:message|stack)$/

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

/** Keys whose values hold any of these words, and which are not treated as content. */
function leaksOf(span: SourceSpan, words: readonly string[]): readonly string[] {
  const dialect = recognise(span.scope.name, span.attributes, span.name)
  return Object.entries(span.attributes).flatMap(([key, value]) => {
    if (isContentAttribute(key, dialect) || EXCEPTION.test(key)) return []
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return words.some((word) => text.includes(word) || text.includes(JSON.stringify(word).slice(1, -1))) ? [key] : []
  })
}

describe('What was said in a run', () => {
  it.each(libraryNames())('is in the recordings of %s under keys that are known to hold content', (library) => {
    const leaks = new Set<string>()
    for (const { spans, logs } of loadLibrary(library).map(readScenario)) {
      const words = buildRuns(spans, { logs }).flatMap(wordsOf)
      for (const span of spans) for (const key of leaksOf(span, words)) leaks.add(key)
    }
    expect([...leaks]).toEqual([])
  })
})
