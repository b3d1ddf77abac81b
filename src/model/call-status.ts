import type { ToolCall } from './agent-run.ts'

/** What each outcome leaves open. */
const OUTCOMES = {
  succeeded: { outcome: 'succeeded', mayHaveActed: true, mayHaveSucceeded: true },
  failed: { outcome: 'failed', mayHaveActed: true, mayHaveSucceeded: false },
  none: { outcome: 'none', mayHaveActed: false, mayHaveSucceeded: false },
  unknown: { outcome: 'unknown', mayHaveActed: true, mayHaveSucceeded: true },
} as const

/** What a status of a tool call means to those that read it. */
interface CallMeaning {
  /** What came of the call; `none`: the tool did not run. */
  readonly outcome: keyof typeof OUTCOMES
  /** Whether the tool may have done something. */
  readonly mayHaveActed: boolean
  /** Whether the tool may have returned. */
  readonly mayHaveSucceeded: boolean
  /** Whether an approval, or the answer of a client's tool, is still to come. */
  readonly waits: boolean
  /** Whether something other than a person kept the tool from running. */
  readonly isRefused: boolean
  /** How people see it. */
  readonly sign: string
  readonly words: string
}

/** What each status of a call means. Whatever depends on the status reads this, so that a new one is one more row. */
export const CALL_STATUS: Readonly<Record<ToolCall['status'], CallMeaning>> = {
  ok: { ...OUTCOMES.succeeded, waits: false, isRefused: false, sign: '✓', words: 'returned' },
  error: { ...OUTCOMES.failed, waits: false, isRefused: false, sign: '✗', words: 'failed' },
  waiting: { ...OUTCOMES.none, waits: true, isRefused: false, sign: '…', words: 'waits for an answer' },
  rejected: { ...OUTCOMES.none, waits: false, isRefused: false, sign: '–', words: 'refused by a person' },
  'not-executed': { ...OUTCOMES.none, waits: false, isRefused: true, sign: '–', words: 'not executed' },
  unknown: { ...OUTCOMES.unknown, waits: false, isRefused: false, sign: '○', words: 'outcome not recorded' },
}

/** Whether the tool returned. */
export function hasSucceeded({ status }: Pick<ToolCall, 'status'>): boolean {
  return CALL_STATUS[status].outcome === 'succeeded'
}

/** Whether the tool failed. */
export function hasFailed({ status }: Pick<ToolCall, 'status'>): boolean {
  return CALL_STATUS[status].outcome === 'failed'
}
