import type { ToolCall } from '../../model/agent-run.ts'
import { CALL_STATUS } from '../../model/call-status.ts'
import { explain } from '../../model/explanation.ts'
import type { Explanation } from '../../model/explanation.ts'
import { expectOption } from '../read-options.ts'
import { count } from './code-scorer.ts'

/** The option of scorers that compare the calls of a run with expected ones. */
export interface CountOption {
  /**
   * Which calls count. `succeeded`: those with the status `ok` or `unknown`, so that an attempt that failed and was corrected is no fault. A
   * call that failed may still have acted, such as one that timed out.
   *
   * @default 'all'
   */
  readonly count?: 'all' | 'succeeded'
}

/** @throws TypeError if the option is another value */
export function expectCount(factory: string, value: unknown): void {
  expectOption(value === 'all' || value === 'succeeded', factory, "count to be 'all' or 'succeeded'", value)
}

/** Whether the call counts. */
export function isCounted({ status }: ToolCall, counted: NonNullable<CountOption['count']>): boolean {
  return counted === 'all' || CALL_STATUS[status].mayHaveSucceeded
}

/** A sentence about the calls that do not count; empty if all do. */
export function explainUncounted(calls: readonly ToolCall[], counted: NonNullable<CountOption['count']>): Explanation {
  const others = calls.filter((call) => !isCounted(call, counted)).length
  return others === 0 ? explain`` : explain` Without ${count(others, 'call')} that did not succeed.`
}
