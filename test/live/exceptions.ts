import type { Library } from './libraries.ts'
import type { Outcome } from './run-library.ts'

/** A difference between what a program did and what is seen of it, with its cause. */
export interface Exception {
  readonly library: RegExp
  readonly scenario: RegExp
  /** The complaints that it explains. */
  readonly complaint: RegExp
  readonly why: string
}

/** Every known difference. The test fails where a difference is not here, and where an entry is no longer needed. */
export const exceptions: readonly Exception[] = [
  {
    library: /^LangChain createAgent, OpenInference$/,
    scenario: /./,
    complaint: /./,
    why: 'the tracer names parents by span context, and live such a parent is not found: the run is seen in parts',
  },
]

/** Divides complaints into those that no exception explains, and the reasons of the others. */
export function explain(
  library: Library,
  { scenario }: Outcome,
  all: readonly string[],
  used: Set<Exception>,
): { readonly complaints: readonly string[]; readonly excused: readonly string[] } {
  const complaints: string[] = []
  const excused = new Set<string>()
  for (const complaint of all) {
    const exception = exceptions.find(
      (candidate) =>
        candidate.library.test(library.name) &&
        candidate.scenario.test(scenario.name) &&
        candidate.complaint.test(complaint),
    )
    if (exception === undefined) {
      complaints.push(complaint)
      continue
    }
    used.add(exception)
    excused.add(exception.why)
  }
  return { complaints, excused: [...excused] }
}
