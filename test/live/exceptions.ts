import type { Library } from './libraries.ts'
import type { Outcome } from './run-library.ts'

/** A difference between what a program did and what its spans show, with its cause. */
export interface Exception {
  readonly library: RegExp
  readonly scenario: RegExp
  /** The complaints that it explains. */
  readonly complaint: RegExp
  readonly why: string
  /** Whether the difference shows only sometimes, because it depends on times. */
  readonly isByChance?: boolean
}

/** Every known difference. The test fails if a difference is not listed here, and if an entry is no longer needed. */
export const exceptions: readonly Exception[] = [
  {
    library: /^VoltAgent$/,
    scenario: /^parallel tools$/,
    complaint: /^inspect: runs\[0\]\.toolCalls/,
    why: "the model's own calls are not recorded, and the tools start in the same millisecond: a file does not say their order",
    isByChance: true,
  },
  {
    library: /^VoltAgent$/,
    scenario: /^approval$/,
    complaint: /^(live|inspect): runs\[0\]\.(status|toolCalls) is/,
    why: 'a call that waits for an approval has no span: the run ends as `unknown`, and its calls are missing',
  },
  {
    library: /^(Anthropic tool runner|StateGraph by Traceloop)$/,
    scenario: /^nested agent$/,
    complaint: /nested\[0\]\.agentName is "ask_librarian"/,
    why: 'the spans hold no names of agents: a nested one is called as the tool that runs it',
  },
  {
    library: /^(createAgent|createReactAgent|StateGraph) by LangSmith$/,
    scenario: /./,
    complaint:
      /^(live|inspect): runs(\.length is 1,|\[\d\] is undefined,|\[\d\]\.(userInput|systemInstructions|output|toolCalls) is)|^calls: at the runs' ends \[null(,null)?\] calls|^\w+: [01] [a-zA-Z ]+, expected \d$/,
    why: "LangSmith's JavaScript tracer writes no spans for LangChain's callbacks, and lets the first of them overwrite the span of `traceable`: who was asked what is left, and of two runs at once it may be that of one",
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
