import type { Dialect } from '../../src/spans/dialect.ts'
import { allDialects } from '../../src/spans/dialects/all.ts'
import type { SpanFacts } from '../../src/spans/facts.ts'
import { recognise } from '../../src/spans/recognise.ts'
import type { SourceSpan } from '../../src/spans/source-span.ts'
import { libraryNames, loadLibrary, readScenario } from '../corpus/load.ts'

/** The recorded spans of each dialect, of the first four recordings of each library. */
export function ownSpans(): ReadonlyMap<Dialect, readonly SourceSpan[]> {
  const recorded = libraryNames().flatMap((name) =>
    loadLibrary(name)
      .slice(0, 4)
      .flatMap((scenario) => readScenario(scenario).spans),
  )
  const byDialect = Map.groupBy(recorded, ({ scope, attributes, name }) => recognise(scope.name, attributes, name))
  return new Map(allDialects.flatMap((dialect) => [[dialect, byDialect.get(dialect) ?? []] as const]))
}

/** Everything that is read of a span. */
export function factsOf(facts: SpanFacts): unknown {
  const { agent, outcome, systemInstructions, input, output, toolCalls, transcript, toolDefinitions } = facts
  const { model, usage, tool, toolArguments, toolResult, ids, isSingleRun, hasFinalForm } = facts
  const said = { systemInstructions, input, output, toolCalls, transcript, toolDefinitions, toolArguments, toolResult }
  return { agent, outcome, ...said, model, usage, tool, ids, isSingleRun, hasFinalForm }
}
