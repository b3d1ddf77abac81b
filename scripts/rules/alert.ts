import type { Rule } from './recording.ts'

/** Somebody is notified immediately. */
export const page = { severity: 'page' }
/** Somebody investigates it on a working day. */
export const ticket = { severity: 'ticket' }

/** The labels of an alert that a link may contain, by the placeholder in the link. */
const PLACEHOLDERS = {
  job: '$labels.job',
  agent: '$labels.gen_ai_agent_name',
  scorer: '$labels.gen_ai_evaluation_name',
}

/**
 * A link from an external label of Prometheus, such as `http://jaeger/search?service={job}`; empty without the label.
 *
 * @param more further placeholders, with expressions of templates
 */
const link = (label: string, more: Readonly<Record<string, string>> = {}) => {
  const filled = Object.entries({ ...PLACEHOLDERS, ...more }).reduce(
    (text, [name, value]) => `reReplaceAll "\\\\{${name}\\\\}" (urlquery ${value}) (${text})`,
    `$externalLabels.${label}`,
  )
  return `{{ if $externalLabels.${label} }}{{ ${filled} }}{{ end }}`
}

/** The link to the figures of a scorer. */
export const DASHBOARD: Readonly<Record<string, string>> = { dashboard_url: link('spanscore_dashboard_url') }

/**
 * The links of an alert on low scores.
 *
 * @param since a template that gives `$since` the time at which they fell
 */
export function scoreLinks(since: string): Readonly<Record<string, string>> {
  const runs = link('spanscore_runs_url', { since: '$since' })
  return { runs_url: `{{ $since := "" }}${since}${runs}`, ...DASHBOARD }
}

/** The section of `collector-config/runbooks.md` that explains an alert, and repeats its thresholds in words. */
const runbook = (name: string) =>
  `{{ with $externalLabels.spanscore_runbook_url }}{{ . }}#${name.toLowerCase()}{{ end }}`

export function alert(
  name: string,
  expr: string,
  labels: Readonly<Record<string, string>>,
  annotations: { readonly summary: string; readonly description: string } & Readonly<Record<string, string>>,
  times: Pick<Rule, 'for' | 'keep_firing_for'> = {},
): Rule {
  return { alert: name, expr, ...times, labels, annotations: { ...annotations, runbook_url: runbook(name) } }
}
