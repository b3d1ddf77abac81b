import { expect, it } from 'vitest'
import type { Dialect } from '../../src/spans/dialect.ts'
import { allDialects } from '../../src/spans/dialects/all.ts'
import { koog } from '../../src/spans/dialects/koog.ts'
import { openInferenceClaudeAgentSdk } from '../../src/spans/dialects/openinference/claude-agent-sdk.ts'
import { recognise } from '../../src/spans/recognise.ts'
import { libraryNames, loadLibrary, readScenario } from '../corpus/load.ts'
import { describeDialect } from './describe-dialect.ts'

/**
 * Dialects of libraries that could not be recorded here: Koog is written in Kotlin, and the Claude Agent SDK runs a program that calls its
 * own service alone.
 */
const NOT_RECORDED: ReadonlySet<Dialect> = new Set([koog, openInferenceClaudeAgentSdk])

const recordings = libraryNames().map((name) => loadLibrary(name))

for (const dialect of allDialects) {
  const own = recordings
    .filter((scenarios) =>
      scenarios
        .slice(0, 2)
        .some((scenario) =>
          readScenario(scenario).spans.some(
            ({ scope, attributes, name }) => recognise(scope.name, attributes, name) === dialect,
          ),
        ),
    )
    // The first recordings of each library. Another test compares all recordings with what was played.
    .flatMap((scenarios) => scenarios.slice(0, 4))
  if (own.length > 0) describeDialect(dialect, { recordings: own })
}

it('has recordings of all dialects but those whose libraries could not be run', () => {
  const recorded = new Set(
    recordings.flatMap((scenarios) =>
      scenarios.flatMap((scenario) =>
        readScenario(scenario).spans.map(({ scope, attributes, name }) => recognise(scope.name, attributes, name)),
      ),
    ),
  )
  expect(new Set(allDialects.filter((dialect) => !recorded.has(dialect)))).toEqual(NOT_RECORDED)
})
