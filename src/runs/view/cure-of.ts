import type { Missing } from '../../model/agent-run.ts'

/** What records a missing fact, as an instruction without a full stop; `undefined` if no setting does. */
export function cureOf(missing: Missing | undefined): string | undefined {
  if (missing?.switch === undefined) return undefined
  return isTooLow(missing) ? `Raise ${missing.switch}` : `Turn on ${missing.switch}`
}

/** Whether the setting is a limit, which is raised and not turned on. */
export function isTooLow({ why }: Missing): boolean {
  return why === 'truncated' || why === 'limit'
}
