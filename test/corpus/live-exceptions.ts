import { isDeepStrictEqual } from 'node:util'

import type { Way } from './play.ts'

/** A recording that gives other runs in a process than the file of the same spans does. */
export interface LiveException {
  readonly library: RegExp
  readonly scenario: RegExp
  /** @default all ways of setting attributes at the start */
  readonly atStart?: readonly Way['atStart'][]
  /** True if no process of Node.js can see the spans in the recorded order. */
  readonly isNeverLive?: boolean
  /** The only fact that may be missing live; everything else must be as in the file. */
  readonly mayLack?: 'conversationId'
  readonly why: string
}

/** Whether live runs differ from those of the file only as an exception says. */
export function isExplained(
  { mayLack }: Pick<LiveException, 'mayLack'>,
  live: readonly string[],
  file: readonly string[],
): boolean {
  return mayLack === undefined || isDeepStrictEqual(without(mayLack, live), without(mayLack, file))
}

/** Runs, printed as JSON, without a fact. */
function without(fact: string, runs: readonly string[]): unknown {
  return runs.map((run): unknown => JSON.parse(run, (key, each: unknown) => (key === fact ? undefined : each)))
}

/**
 * Every recording whose live runs differ from those of its file, in any of the ways to play it. A difference that is not here fails
 * the suite, and so does an exception that is not needed.
 */
export const liveExceptions: readonly LiveException[] = [
  {
    library: /^pydantic-ai-timeout-/,
    scenario: /./,
    isNeverLive: true,
    why: 'a task that Python cancels ends its spans in any order: the model call is late for the run of its agent',
  },
  {
    library: /^java-/,
    scenario: /./,
    isNeverLive: true,
    why: 'spans of Java never start in a process of Node.js: its dialects read files and the service, where all attributes are there',
  },
  {
    library: /^mastra-.*-approvals-/,
    scenario: /^approval/,
    isNeverLive: true,
    why: 'an agent goes on below the ids of a span that has ended, and in some of these ways below the span itself: it is late then',
  },
  {
    library: /^python-langsmith-/,
    scenario: /./,
    isNeverLive: true,
    why: 'LangSmith for Python makes its spans from batches, after the work: an outer span has ended before an inner one begins',
  },
  {
    library: /^ai-7\.0\.173-legacy-and-otel$/,
    scenario: /^09/,
    why: 'both forms of telemetry write each run: a nested agent is below the older form alone, whose spans end after the run in the newer form',
  },
  {
    library: /^ai-7\.0\.173-(legacy-and-otel|otel-and-legacy)$/,
    scenario: /./,
    isNeverLive: true,
    mayLack: 'conversationId',
    why: "the AI SDK sets the session's id at the start of its older spans, which most of these recordings are played without: the run is handed over before the older record, which alone has the id, ends",
  },
  {
    library: /^python-traceloop-llama-index-/,
    scenario: /^07-stream$/,
    isNeverLive: true,
    why: 'the span of a workflow that streams ends before its later steps begin',
  },
  {
    library: /^python-openinference-/,
    scenario: /^09a-agent-as-tool$/,
    atStart: ['kind', 'none'],
    why: 'played without attributes at the start: the tool that starts an agent is recognised only after that agent has ended',
  },
]

/** Recordings whose live runs may lack a fact in some order of the hooks, though parents start before children. */
export const orderExceptions: readonly Pick<LiveException, 'library' | 'mayLack' | 'why'>[] = [
  {
    library: /^ai-7\.0\.173-(legacy-and-otel|otel-and-legacy)$/,
    mayLack: 'conversationId',
    why: "both forms of telemetry write each run, and only the older one has the session's id: it is lost if the newer record ends before the older one begins",
  },
  {
    library: /^java-spring-ai-/,
    mayLack: 'conversationId',
    why: "only the outer agent's calls have the id: a nested agent that ends before the first of them does not know it",
  },
]
