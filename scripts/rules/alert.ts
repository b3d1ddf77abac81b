import type { Rule } from './recording.ts'

/** Somebody is notified immediately. */
export const page = { severity: 'page' }
/** Somebody investigates it on a working day. */
export const ticket = { severity: 'ticket' }

/** The section that explains an alert. */
const runbook = (name: string) => `runbooks.md#${name.toLowerCase()}`

export function alert(
  name: string,
  expr: string,
  labels: Readonly<Record<string, string>>,
  words: { readonly summary: string; readonly description: string },
  times: Pick<Rule, 'for' | 'keep_firing_for'> = {},
): Rule {
  return { alert: name, expr, ...times, labels, annotations: { ...words, runbook_url: runbook(name) } }
}
