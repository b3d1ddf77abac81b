import { isDeepStrictEqual } from 'node:util'

import type { AgentRun } from '../../src/model/agent-run.ts'
import { readOtlpJson } from '../../src/otlp/json.ts'
import { compareScenario } from '../corpus/compare.ts'
import type { Scenario } from '../corpus/load.ts'
import { inspect } from './inspect.ts'
import type { Library } from './libraries.ts'
import type { GivenEvaluation, Outcome } from './run-library.ts'
import { callsOf, complaintsAboutProgram, expectedRun, isWaiting } from './script.ts'

const SCORERS = ['answer_present', 'calls', 'answer_relevancy']

/** What is wrong with the output of a scenario, in one sentence each; empty if all is as the script says. */
export async function complaintsAbout(library: Library, outcome: Outcome): Promise<string[]> {
  const { scenario, threw, answers, done } = outcome
  if (threw !== undefined) return [`the program threw ${threw}`]
  const live = lastRevisions(outcome.evaluations)
  const stored = await inspect(outcome.exported.files)
  return [
    ...complaintsAboutProgram(scenario, answers, done),
    ...differences('live', library, outcome, live),
    ...differences('inspect', library, outcome, stored),
    ...complaintsAboutCounts(outcome),
    ...complaintsAboutScores(outcome),
  ]
}

/** The runs that were scored, each as it was last seen. */
function lastRevisions(evaluations: readonly GivenEvaluation[]): AgentRun[] {
  const runs = new Map<string, GivenEvaluation>()
  for (const evaluation of evaluations) {
    const known = runs.get(evaluation.run.id)
    if (known === undefined || evaluation.revision >= known.revision) runs.set(evaluation.run.id, evaluation)
  }
  return [...runs.values()].map(({ run }) => run)
}

/** Without the scores that were given again because the run had changed. */
function firstRevisions(evaluations: readonly GivenEvaluation[]): GivenEvaluation[] {
  return evaluations.filter(({ run, revision }) =>
    evaluations.every((other) => other.run.id !== run.id || other.revision >= revision),
  )
}

function differences(where: string, library: Library, outcome: Outcome, runs: readonly AgentRun[]): string[] {
  const scenario: Scenario = {
    library: library.name,
    id: outcome.scenario.name,
    expected: { runs: outcome.scenario.runs.map((run) => expectedRun(run, library)) },
    traces: undefined,
    missing: library.notRecorded ?? [],
  }
  return compareScenario(scenario, runs).map(
    ({ path, expected, actual }) =>
      `${where}: ${path} is ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`,
  )
}

/** The scorer that counts the calls saw all of them when the run ended. */
function complaintsAboutCounts({ scenario, evaluations }: Outcome): string[] {
  const counted = firstRevisions(evaluations.filter(({ scorer }) => scorer === 'calls'))
  const values = counted.map(({ score }) => score.value).toSorted()
  const right = scenario.runs.map((run) => (isWaiting(run) ? undefined : callsOf(run).length)).toSorted()
  if (isDeepStrictEqual(values, right)) return []
  return [`calls: at the runs' ends ${JSON.stringify(values)} calls were counted, expected ${JSON.stringify(right)}`]
}

/**
 * Every scorer gives one score for each run, on the agent's span, in an event and to `onScore`. A run that waits is skipped: only `onScore`
 * hears of it.
 */
function complaintsAboutScores(outcome: Outcome): string[] {
  const { scenario, evaluations, exported } = outcome
  const runCount = scenario.runs.length
  const endedCount = scenario.runs.filter((run) => !isWaiting(run)).length
  const spans = exported.traces.flatMap((request) => readOtlpJson(request)?.spans ?? [])
  const logs = exported.logs.flatMap((request) => readOtlpJson(request)?.logs ?? [])
  return SCORERS.flatMap((scorer) => {
    const given = firstRevisions(evaluations.filter((evaluation) => evaluation.scorer === scorer))
    const counts: [string, number, number][] = [
      ['calls of onScore', given.length, runCount],
      ['runs that are scored', new Set(given.map(({ run }) => run.id)).size, runCount],
      ['scores that are numbers', given.filter(({ status }) => status === 'scored').length, endedCount],
      [
        'spans with the score',
        spans.filter((span) => `spanscore.${scorer}.score` in span.attributes).length,
        endedCount,
      ],
      ['events', logs.filter((log) => log.attributes['gen_ai.evaluation.name'] === scorer).length, endedCount],
    ]
    return counts
      .filter(([, count, wanted]) => count !== wanted)
      .map(([what, count, wanted]) => `${scorer}: ${count} ${what}, expected ${wanted}`)
  })
}
