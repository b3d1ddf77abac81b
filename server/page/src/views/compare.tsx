import type { Comparison, ScoreSummary } from '../api.ts'
import { useService } from '../service.ts'
import { percent, plural } from '../format.ts'
import { useTitle } from '../title.ts'
import { useAnswer } from '../live.ts'
import { IntervalBar } from '../parts/chart.tsx'
import { Choice } from '../parts/choice.tsx'
import { placeOf, useChoices } from '../parts/place.ts'
import { markOf } from '../parts/score-mark.tsx'
import { WithheldNote } from '../parts/withheld-note.tsx'
import { AgentChoice, ScorerChoice, scorersOf, versionsOf } from '../parts/scorer-choice.tsx'
import { intervalOf } from './scores.tsx'

const WAYS = [
  { value: 'agentVersion', name: 'agent versions' },
  { value: 'version', name: 'scorer versions' },
  { value: 'model', name: 'models' },
  { value: 'time', name: 'times' },
]

/** Compares two versions, models or periods: the difference with its interval, and the runs that changed. */
export function CompareView() {
  const { overview, changes } = useService()
  const { choices, choose } = useChoices()
  const scorers = scorersOf(overview)
  const scorer = choices['scorer'] ?? scorers[0] ?? ''
  const way =
    choices['way'] ??
    (overview.agentVersions.length > 1 ? 'agentVersion' : overview.models.length > 1 ? 'model' : 'time')
  const sides = sidesOf(
    way,
    way === 'version' ? versionsOf(overview, scorer) : way === 'model' ? overview.models : overview.agentVersions,
  )
  const before = choices['before'] ?? sides.at(0)?.value ?? ''
  const after = choices['after'] ?? sides.at(1)?.value ?? ''
  const isReady = scorer !== '' && before !== '' && after !== '' && before !== after
  const query = {
    scorer,
    agent: choices['agent'],
    ...filterOf('before', way, before),
    ...filterOf('after', way, after),
  }
  const { value, error } = useAnswer<Comparison>(isReady ? '/api/compare' : undefined, query, changes)
  useTitle('Compare')
  return (
    <section>
      <h1>Compare</h1>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <ScorerChoice value={scorer} options={scorers} clears={['before', 'after']} />
        <AgentChoice />
        <Choice
          label="Compare"
          value={way}
          options={WAYS}
          onChange={(next) => choose({ way: next, before: '', after: '' })}
        />
        <Choice label="Before" value={before} options={sides} onChange={(next) => choose({ before: next })} />
        <Choice label="After" value={after} options={sides} onChange={(next) => choose({ after: next })} />
      </form>
      {error !== undefined && <p class="problem">{error}</p>}
      <WithheldNote count={value?.withheld} scorer={scorer} />
      {!isReady && <p class="empty">Choose two {WAYS.find(({ value: each }) => each === way)?.name} that differ.</p>}
      {isReady && value !== undefined && (
        <Result comparison={value} before={nameOf(sides, before)} after={nameOf(sides, after)} />
      )}
    </section>
  )
}

interface Side {
  readonly value: string
  readonly name: string
}

const HOUR_MS = 3_600_000

/** The two latest values first, the older one before. */
function sidesOf(way: string, values: readonly string[]): readonly Side[] {
  if (way !== 'time') {
    const [first, second, ...rest] = values.toReversed()
    const ordered = second === undefined ? [first] : [second, first]
    return [...ordered, ...rest].flatMap((value) => (value === undefined ? [] : [{ value, name: value }]))
  }
  return [
    { value: '2-1', name: 'the hour before the last' },
    { value: '1-0', name: 'the last hour' },
    { value: '48-24', name: 'the day before the last' },
    { value: '24-0', name: 'the last day' },
    { value: '336-168', name: 'the week before the last' },
    { value: '168-0', name: 'the last week' },
  ]
}

function nameOf(sides: readonly Side[], value: string): string {
  return sides.find((side) => side.value === value)?.name ?? value
}

function filterOf(side: string, way: string, value: string): Readonly<Record<string, string | number>> {
  if (way !== 'time') return { [`${side}.${way}`]: value }
  const [from = 0, to = 0] = value.split('-').map(Number)
  const nowMs = Math.ceil(Date.now() / 60_000) * 60_000
  return { [`${side}.fromMs`]: nowMs - from * HOUR_MS, [`${side}.toMs`]: nowMs - to * HOUR_MS }
}

function Result({
  comparison,
  before,
  after,
}: {
  readonly comparison: Comparison
  readonly before: string
  readonly after: string
}) {
  const { difference, paired, same, changed } = comparison
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Both sides">
        <table class="sides">
          <thead>
            <tr>
              <th scope="col">Side</th>
              <th scope="col" class="number">
                Mean
              </th>
              <th scope="col" class="number">
                95 % interval
              </th>
              <th scope="col">0 to 1</th>
              <th scope="col" class="number">
                Failing
              </th>
              <th scope="col" class="number">
                Runs
              </th>
            </tr>
          </thead>
          <tbody>
            <SideRow name={`Before: ${before}`} summary={comparison.before} />
            <SideRow name={`After: ${after}`} summary={comparison.after} />
          </tbody>
        </table>
      </div>
      {difference === undefined ? (
        <p class="empty">One side has no scores.</p>
      ) : (
        <section class="difference">
          <h2>
            Difference {signed(difference.mean)}{' '}
            <span class="muted">
              (95 % interval {signed(difference.interval95[0])} to {signed(difference.interval95[1])})
            </span>
          </h2>
          <IntervalBar
            low={difference.interval95[0]}
            mean={difference.mean}
            high={difference.interval95[1]}
            from={-1}
            to={1}
            label="Difference with its interval, from −1 to 1"
          />
          <p>{conclusionOf(difference.interval95)}</p>
        </section>
      )}
      <h2>Runs that changed</h2>
      <p class="muted">
        {paired === 0
          ? 'No question was asked on both sides, so no two runs can be compared.'
          : `${plural(paired, 'question')} asked on both sides; ${same} score the same, ${changed.length} do not.`}
      </p>
      {changed.length > 0 && (
        <ol class="changed">
          {changed.map(({ question, before: old, after: now }) => (
            <li key={now.id}>
              <h3>{question}</h3>
              <div class="in-out">
                <Answer name="Before" run={old} />
                <Answer name="After" run={now} />
              </div>
            </li>
          ))}
        </ol>
      )}
    </>
  )
}

function SideRow({ name, summary }: { readonly name: string; readonly summary: ScoreSummary }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="number">{summary.mean?.mean.toFixed(3) ?? '–'}</td>
      <td class="number">{intervalOf(summary)}</td>
      <td>
        {summary.mean !== undefined && (
          <IntervalBar
            low={summary.mean.interval95[0]}
            mean={summary.mean.mean}
            high={summary.mean.interval95[1]}
            label={`${name}: ${intervalOf(summary)}`}
          />
        )}
      </td>
      <td class="number">{summary.failing === undefined ? '–' : percent(summary.failing)}</td>
      <td class="number">{summary.runs.toLocaleString('en')}</td>
    </tr>
  )
}

function Answer({ name, run }: { readonly name: string; readonly run: Comparison['changed'][number]['before'] }) {
  const { sign, tone, word } = markOf('scored', run.label)
  return (
    <div>
      <h4>
        {name}{' '}
        <a class={`mark ${tone}`} href={placeOf(run.id)}>
          <span aria-label={word}>{sign}</span> {run.position.toFixed(2)}
        </a>
      </h4>
      <p class="text">{run.answer === '' ? <i class="muted">no answer</i> : run.answer}</p>
    </div>
  )
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`
}

function conclusionOf([low, high]: readonly [number, number]): string {
  if (low > 0) return '▲ After is better: the interval lies above 0.'
  if (high < 0) return '▼ After is worse: the interval lies below 0.'
  return '○ No difference is shown: the interval holds 0. More runs make it narrower.'
}
