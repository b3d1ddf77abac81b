import type { AlertSettings } from '../../emit/alert-settings.ts'
import { positionInRange } from '../../emit/position-in-range.ts'
import type { Evaluation } from '../../model/score.ts'
import { readTable, wrong } from './option-checks.ts'
import { alertTable } from './option-table.ts'
import type { AlertSeverity, ScorerAlerts } from './scoring-options.ts'

const SEVERITIES: Readonly<Record<AlertSeverity, number>> = { off: 0, ticket: 1, page: 2 }

/**
 * The settings of a scorer's alerts as numbers, which metrics can carry. Levels become positions in the scorer's range, because the rules
 * compare positions; `worst_score` and `best_score` let a message show them in the scorer's own units again.
 *
 * @param path how errors name the settings
 * @throws TypeError `<path>: expected …, got …`
 */
export function resolveAlerts(path: string, given: ScorerAlerts, scorer: Evaluation['scorer']): AlertSettings {
  const alerts = readTable<ScorerAlerts>(path, given, alertTable)
  const { target, usual, on = 'passed', severity = 'ticket', drop = 'ticket', any = 'off', runsTogether = 1 } = alerts
  if (given.severity !== undefined && target === undefined) {
    throw wrong(`${path}.severity`, 'target beside it; drop is the severity of a drop below what is usual', severity)
  }
  if (given.on !== undefined && target === undefined && usual === undefined) {
    throw wrong(`${path}.on`, 'target or usual beside it', on)
  }
  const level = (name: 'target' | 'usual') => {
    const value = alerts[name]
    return value === undefined ? {} : { [`${name}_${on}`]: positionOf(`${path}.${name}`, value, on, scorer) }
  }
  const [low, high] = scorer.range
  return {
    ...level('target'),
    ...level('usual'),
    ...(target !== undefined && { target_severity: SEVERITIES[severity] }),
    drop_severity: SEVERITIES[drop],
    ...(any !== 'off' && { any_severity: SEVERITIES[any] }),
    runs_together: runsTogether,
    worst_score: scorer.better === 'higher' ? low : high,
    best_score: scorer.better === 'higher' ? high : low,
  }
}

function positionOf(path: string, value: number, on: 'passed' | 'mean', scorer: Evaluation['scorer']): number {
  const position = on === 'passed' ? value : positionInRange({ scorer }, value)
  if (position > 0 && position <= 1) return position
  const [low, high] = scorer.range
  const mean = `a mean better than the worst score, within the scorer's range from ${low} to ${high}`
  throw wrong(path, on === 'passed' ? "a share of runs above 0 and at most 1; for a mean, set on: 'mean'" : mean, value)
}
