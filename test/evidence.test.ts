import { describe, expect, it } from 'vitest'
import type { AgentRun } from '../src/model/agent-run.ts'
import { buildRuns } from '../src/runs/build-runs.ts'
import { ORDER } from '../src/runs/view/evidence.ts'
import type { DecidedFacts } from '../src/runs/view/evidence.ts'
import { ReconstructedRun } from '../src/runs/view/run.ts'
import { libraryNames, loadLibrary, readScenario } from './corpus/load.ts'

const FACTS = Object.keys(ORDER) as (keyof DecidedFacts)[]

/** The recorded scenarios in which each source decides, by fact and source. */
const deciding = new Map<string, Set<string>>()

function note(run: AgentRun, scenario: string): void {
  for (const fact of FACTS) {
    const decision = ReconstructedRun.decisionOf(run, fact)
    if (decision === undefined) continue
    const key = `${fact}: ${decision.by}`
    deciding.set(key, (deciding.get(key) ?? new Set()).add(scenario))
  }
  for (const child of run.children) note(child, scenario)
}

for (const library of libraryNames()) {
  for (const scenario of loadLibrary(library)) {
    const { spans, logs } = readScenario(scenario)
    for (const run of buildRuns(spans, { logs })) note(run, `${library} ${scenario.id}`)
  }
}

describe.each(FACTS)('the order of evidence of %s', (fact) => {
  it.each(ORDER[fact].map(([by]) => by))('is decided by "%s" in a recording', (by) => {
    expect([...(deciding.get(`${fact}: ${by}`) ?? [])]).not.toEqual([])
  })
})
