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
    library: /^VoltAgent$/,
    scenario: /^parallel tools$/,
    complaint: /^inspect: runs\[0\]\.toolCalls/,
    why: "the model's own calls are not recorded, and the tools start in the same millisecond: a file does not say their order",
  },
  {
    library: /^(Anthropic tool runner|StateGraph by Traceloop)$/,
    scenario: /^nested agent$/,
    complaint: /nested\[0\]\.agentName is "ask_librarian"/,
    why: 'the spans hold no names of agents: a nested one is called as the tool that runs it',
  },
  {
    library: /by LangSmith$/,
    scenario: /./,
    complaint: /./,
    why: "LangSmith's JavaScript tracer writes no spans for LangChain's callbacks, and lets the first of them overwrite the span of `traceable`",
  },
  {
    library: /^(createAgent|createReactAgent|StateGraph) by Traceloop$/,
    scenario: /^two requests at once$/,
    complaint: /./,
    why: 'the tracer keeps one current parent for all requests: it hangs spans of one request below the workflow of the other',
  },
  {
    library: /^(createAgent|createReactAgent|StateGraph) by Traceloop$/,
    scenario: /^nested agent$/,
    complaint: /^(live|calls|answer_)/,
    why: 'the spans of a graph within a graph are written side by side: live, the inner graph is taken for a run of its own; from a file it is found',
  },
  {
    library: /^createAgent by OpenInference$/,
    scenario: /^nested agent$/,
    complaint: /^(live|calls|answer_)/,
    why: 'live, the nested agent is taken for a run of its own; from a file it is found',
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
