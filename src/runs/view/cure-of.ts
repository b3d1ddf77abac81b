import type { Missing } from '../../model/agent-run.ts'

/** What records a missing fact, as an instruction without a full stop; `undefined` if no setting does. */
export function cureOf(missing: Missing | undefined): string | undefined {
  if (missing?.switch === undefined) return undefined
  return isTooLow(missing) ? `Raise ${missing.switch}` : `Set ${missing.switch}`
}

/** The instructions of all missing facts, each once, such as `Set A. Set B`; `undefined` if no setting records any of them. */
export function curesOf(missing: readonly Missing[]): string | undefined {
  const cures = new Set(missing.flatMap((each) => cureOf(each) ?? []))
  return cures.size === 0 ? undefined : [...cures].join('. ')
}

/** Whether the setting is a limit, which is raised and not turned on. */
export function isTooLow({ why }: Missing): boolean {
  return why === 'truncated' || why === 'limit'
}
