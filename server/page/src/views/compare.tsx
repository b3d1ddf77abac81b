import type { ComparedScorer, Comparison, ScoreSummary, Side, Sides } from '../api.ts'
import { useService } from '../service.ts'
import { percent, plural } from '../format.ts'
import { useTitle } from '../title.ts'
import { useAnswer } from '../live.ts'
import { FilterBar } from '../parts/filter-bar.tsx'
import { IntervalBar } from '../parts/chart.tsx'
import { Choice } from '../parts/choice.tsx'
import { filterOf, placeOf, useChoices } from '../parts/place.ts'
import { markOf } from '../parts/score-mark.tsx'
import { dislikesOf, NO_SAMPLE } from '../parts/users-note.ts'
import { WithheldNote } from '../parts/withheld-note.tsx'
import { PositionNote } from '../parts/position-note.tsx'
import { AgentChoice, ScorerChoice, scorerOf, scorersOf, unitsOfScorer } from '../parts/scorer-choice.tsx'
import { intervalOf } from './scores.tsx'
import { numbers, Table, texts } from '../parts/table.tsx'

const WAYS = [
  { value: 'agentVersion', name: 'agent versions' },
  { value: 'version', name: 'scorer versions' },
  { value: 'model', name: 'models' },
  { value: 'time', name: 'times' },
] as const

type Way = (typeof WAYS)[number]['value']

/** Compares two versions, models or periods: the difference with its interval, and the runs that changed. */
export function CompareView() {
  const { overview, changes } = useService()
  const { choices, choose } = useChoices()
  const scorer = scorerOf('/compare', choices, overview)
  // Both sides may be periods, so that the period of other views is none here.
  const same = { ...filterOf({ ...choices, time: '', since: '', from: '', to: '' }), scorer }
  const { value: offered } = useAnswer<Sides>(scorer === '' ? undefined : '/api/sides', same, changes)
  const way = wayOf(choices['way'], offered)
  const sides = offered?.[way] ?? []
  const [before, after] = pairOf(way, sides, choices)
  const isReady = before !== undefined && after !== undefined && before !== after
  const agent = choices['agent'] ?? (way === 'agentVersion' ? offered?.agent : undefined)
  const query = { ...same, agent, ...sideOf('before', way, before), ...sideOf('after', way, after) }
  const { value, error } = useAnswer<Comparison>(isReady ? '/api/compare' : undefined, query, changes)
  // Two versions of a scorer have no other scorer in common.
  const all = useAnswer<readonly ComparedScorer[]>(
    isReady && way !== 'version' ? '/api/compare/all' : undefined,
    query,
    changes,
  )
  useTitle('Compare')
  const names = sides.map(({ value: name, runs }) => ({ value: name, name: `${name} (${plural(runs, 'run')})` }))
  return (
    <section>
      <h1>Compare</h1>
      <FilterBar>
        <ScorerChoice value={scorer} options={scorersOf(overview)} clears={['before', 'after']} />
        <AgentChoice value={agent} />
        <Choice
          label="Compare"
          value={way}
          options={WAYS}
          onChange={(next) => choose({ way: next, before: '', after: '' })}
        />
        {names.length > 1 && (
          <>
            <Choice
              label="Before"
              value={choices['before'] ?? before?.value ?? ''}
              options={names}
              onChange={(next) => choose({ before: next })}
            />
            <Choice
              label="After"
              value={choices['after'] ?? after?.value ?? ''}
              options={names}
              onChange={(next) => choose({ after: next })}
            />
          </>
        )}
      </FilterBar>
      {error !== undefined && <p class="problem">{error}</p>}
      <WithheldNote count={value?.withheld} scorer={scorer} />
      {!isReady && (offered !== undefined || scorer === '') && <p class="empty">{emptyOf(way, sides)}</p>}
      {isReady && way !== 'version' && all.value !== undefined && (
        <AllScorers
          compared={all.value}
          chosen={scorer}
          before={before.value}
          after={after.value}
          onChoose={(next) => choose({ scorer: next })}
        />
      )}
      {isReady && value !== undefined && (
        <Result comparison={value} scorer={scorer} way={way} before={before.value} after={after.value} />
      )}
    </section>
  )
}

/** The chosen way, or the first one in which two sides have scores. */
function wayOf(chosen: string | undefined, offered: Sides | undefined): Way {
  const known = WAYS.find(({ value }) => value === chosen)
  const possible = WAYS.find(({ value }) => value !== 'version' && (offered?.[value].length ?? 0) > 1)
  return (known ?? possible)?.value ?? 'time'
}

/** The chosen sides. Without a choice they are the two with the latest scores, or the first pair of periods. */
function pairOf(
  way: Way,
  sides: readonly Side[],
  choices: Readonly<Record<string, string>>,
): readonly [before: Side | undefined, after: Side | undefined] {
  const [first, second] = sides
  const [before, after] = way === 'time' ? [first, second] : [second, first]
  const find = (name: string | undefined) => sides.find(({ value }) => value === name)
  return [
    choices['before'] === undefined ? before : find(choices['before']),
    choices['after'] === undefined ? after : find(choices['after']),
  ]
}

function emptyOf(way: Way, sides: readonly Side[]): string {
  const name = WAYS.find(({ value }) => value === way)?.name ?? way
  if (sides.length > 1) return `Choose two ${name} that differ.`
  return way === 'time' ? 'There are not two scored runs to compare yet.' : `There are not two ${name} with scores yet.`
}

function sideOf(name: string, way: Way, side: Side | undefined): Readonly<Record<string, string | number | undefined>> {
  if (side === undefined) return {}
  return way === 'time'
    ? { [`${name}.fromMs`]: side.fromMs, [`${name}.toMs`]: side.toMs }
    : { [`${name}.${way}`]: side.value }
}

interface AllScorersProps {
  readonly compared: readonly ComparedScorer[]
  readonly chosen: string
  readonly before: string
  readonly after: string
  readonly onChoose: (scorer: string) => void
}

function scorerNames(compared: readonly ComparedScorer[]): string {
  return compared.map(({ scorer }) => scorer).join(', ')
}

/** All scorers on both sides: in a sentence, and what surely got worse first. A row opens its details. */
function AllScorers({ compared, chosen, before, after, onChoose }: AllScorersProps) {
  const worse = compared.filter(({ state }) => state === 'worse')
  const better = compared.filter(({ state }) => state === 'better')
  const most = Math.max(0.02, ...compared.flatMap(({ difference }) => difference.interval95.map(Math.abs)))
  return (
    <>
      <p class={worse.length > 0 ? 'lead fail' : 'lead'}>
        {worse.length > 0
          ? `▲ ${after} fails more often than ${before}: ${scorerNames(worse)}.`
          : `○ No scorer surely fails ${after} more often than ${before}.`}
        {better.length > 0 && ` ▼ It fails less often: ${scorerNames(better)}.`}
      </p>
      <Table
        label="All scorers"
        heads={[
          ...texts('Scorer'),
          ...numbers('Fails, before → after'),
          ...texts(`Difference, ${points(-most)} to ${points(most)}`),
          ...numbers('Scored'),
        ]}
      >
        {compared.map(({ scorer, before: old, after: now, difference, state }) => (
          <tr key={scorer} class={scorer === chosen ? 'chosen' : ''}>
            <th scope="row">
              <button type="button" class="as-link" aria-pressed={scorer === chosen} onClick={() => onChoose(scorer)}>
                {scorer}
              </button>
            </th>
            <td class="number">
              {percent(old.failing?.mean ?? 0)} → {percent(now.failing?.mean ?? 0)}
            </td>
            <td>
              <IntervalBar
                low={difference.interval95[0]}
                mean={difference.mean}
                high={difference.interval95[1]}
                tone={state === 'worse' ? 'fail' : state === 'better' ? 'pass' : ''}
                from={-most}
                to={most}
                label={`${points(difference.mean)}, 95 % interval ${points(difference.interval95[0])} to ${points(difference.interval95[1])}`}
              />
            </td>
            <td class="number">
              {old.runs.toLocaleString('en')} / {now.runs.toLocaleString('en')}
            </td>
          </tr>
        ))}
      </Table>
    </>
  )
}

function Result({
  comparison,
  scorer,
  way,
  before,
  after,
}: {
  readonly comparison: Comparison
  readonly scorer: string
  readonly way: Way
  readonly before: string
  readonly after: string
}) {
  const { difference, opinions } = comparison
  const [said, saidAfter] = opinions
  const { overview } = useService()
  const units = unitsOfScorer(overview, scorer) === 'conversations' ? 'conversations' : 'runs'
  return (
    <>
      <h2>
        {scorer} fails{' '}
        {difference !== undefined && (
          <>
            {points(difference.mean)}{' '}
            <span class="muted">
              (95 % interval {points(difference.interval95[0])} to {points(difference.interval95[1])})
            </span>
          </>
        )}
      </h2>
      <Table
        label="Both sides"
        name="sides"
        heads={[
          ...texts('Side'),
          ...numbers('Failing', '95 % interval'),
          ...texts('0 to 100 %'),
          ...numbers('Mean position', units === 'runs' ? 'Runs' : 'Conversations'),
        ]}
      >
        <SideRow name={`Before: ${before}`} summary={comparison.before} />
        <SideRow name={`After: ${after}`} summary={comparison.after} />
      </Table>
      {difference === undefined ? (
        <p class="empty">One side has no scores.</p>
      ) : (
        <p class="difference">
          {conclusionOf(difference.interval95)}{' '}
          {way === 'version'
            ? 'Two versions of a scorer measure differently, so a difference does not mean that the agent changed.'
            : 'All scored runs of each side count, so different questions can make a difference, too.'}
        </p>
      )}
      {said !== undefined && saidAfter !== undefined && said.given + saidAfter.given > 0 && (
        <p>
          Users: {dislikesOf(said)} before, {dislikesOf(saidAfter)} after. <span class="muted">{NO_SAMPLE}</span>
        </p>
      )}
      <PositionNote scorer={scorer} allVersions={way !== 'version'} />
      {units === 'runs' && <Changed comparison={comparison} />}
    </>
  )
}

/** The questions that both sides answered with other scores. */
function Changed({ comparison: { paired, same, changed } }: { readonly comparison: Comparison }) {
  return (
    <>
      <h2>Runs that changed</h2>
      <p class="muted">
        {paired === 0
          ? 'No question was asked on both sides, so no two runs can be compared.'
          : `${plural(paired, 'question')} asked on both sides. Of each, the latest run on each side is compared: ${same} score the same, ${paired - same} do not.`}
        {changed.length < paired - same && ` These are the ${changed.length} with the largest change.`}
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
      <td class="number">{summary.failing === undefined ? '–' : percent(summary.failing.mean)}</td>
      <td class="number">{intervalOf(summary)}</td>
      <td>
        {summary.failing !== undefined && (
          <IntervalBar
            low={summary.failing.interval95[0]}
            mean={summary.failing.mean}
            high={summary.failing.interval95[1]}
            label={`${name}: ${intervalOf(summary)}`}
          />
        )}
      </td>
      <td class="number">{summary.mean?.mean.toFixed(3) ?? '–'}</td>
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

/** A difference of shares: `+12 points`. */
function points(value: number): string {
  const digits = Math.abs(100 * value)
  const text = digits < 10 ? String(Number(digits.toFixed(1))) : String(Math.round(digits))
  return `${Number(text) === 0 ? '±' : value < 0 ? '−' : '+'}${text} points`
}

function conclusionOf([low, high]: readonly [number, number]): string {
  if (low > 0) return '▲ More fail after: the whole interval is above 0.'
  if (high < 0) return '▼ Fewer fail after: the whole interval is below 0.'
  return '○ These runs do not show whether more or fewer fail: the interval contains 0. More runs make it narrower.'
}
