import { useLocation } from 'preact-iso'

import { at, toSearch } from '../api.ts'
import type { ScoresOverTime, ScoreSeries, ScoreSummary } from '../api.ts'
import { useService } from '../service.ts'
import { percent, plural } from '../format.ts'
import { useTitle } from '../title.ts'
import { useAnswer } from '../live.ts'
import { FilterBar } from '../parts/filter-bar.tsx'
import { Distribution, GROUP_STYLES, ScoreChart } from '../parts/chart.tsx'
import type { Measure } from '../parts/chart.tsx'
import { Choice } from '../parts/choice.tsx'
import { filterOf, sharedOf, useChoices } from '../parts/place.ts'
import { dislikesOf, NO_SAMPLE } from '../parts/users-note.ts'
import { WithheldNote } from '../parts/withheld-note.tsx'
import { PositionNote } from '../parts/position-note.tsx'
import {
  AgentChoice,
  passPositionOf,
  ScorerChoice,
  scorerOf,
  scorersOf,
  TimeChoice,
  unitsOfScorer,
  versionsOf,
} from '../parts/scorer-choice.tsx'
import { numbers, Table, texts } from '../parts/table.tsx'

const GROUPS = [
  { value: 'agent', name: 'Agent' },
  { value: 'version', name: 'Scorer version' },
  { value: 'agent_version', name: 'Agent version' },
  { value: 'model', name: 'Model' },
]

const MEASURES: readonly { readonly value: Measure; readonly name: string }[] = [
  { value: 'failing', name: 'failing share' },
  { value: 'mean', name: 'mean position' },
]

/** The scores of one scorer over time: failing share and mean with intervals, and distribution, by group. */
export function ScoresView() {
  const { overview, changes } = useService()
  const { route } = useLocation()
  const { choices, choose } = useChoices()
  const scorer = scorerOf('/scores', choices, overview)
  const by = choices['by'] ?? 'agent'
  const measure: Measure = choices['measure'] === 'mean' ? 'mean' : 'failing'
  const { version, model, drawn } = choices
  const query = { ...filterOf(choices), scorer, by, version, model, drawn }
  const { value, error } = useAnswer<ScoresOverTime>(scorer === '' ? undefined : '/api/scores', query, changes)
  const units = unitsOfScorer(overview, scorer) === 'conversations' ? 'conversations' : 'runs'
  const list = `/${units}`
  const same = { ...sharedOf(choices), scorer }
  useTitle('Scores')
  if (scorer === '')
    return (
      <p class="empty">
        There are no scores yet. <a href="/runs">Runs</a>
      </p>
    )
  const plotted = value?.series.filter(({ isDrawn }) => isDrawn) ?? []
  const openPeriod = (from: number, to: number, group: string) =>
    route(
      at(
        `${list}${toSearch({ ...same, time: '', since: '', from, to, ...(group === '' ? {} : groupFilter(by, units, group)) })}`,
      ),
    )
  return (
    <section>
      <h1>Scores over time</h1>
      <FilterBar>
        <ScorerChoice value={scorer} options={scorersOf(overview)} clears={['version']} />
        <Choice label="By" value={by} options={GROUPS} onChange={(next) => choose({ by: next, drawn: '' })} />
        <Choice label="Drawn" value={measure} options={MEASURES} onChange={(next) => choose({ measure: next })} />
        <AgentChoice />
        <Choice
          label="Scorer version"
          any="all"
          value={version ?? ''}
          options={versionsOf(overview, scorer)}
          onChange={(next) => choose({ version: next })}
        />
        <Choice
          label="Model"
          any="all"
          value={model ?? ''}
          options={overview.models}
          onChange={(next) => choose({ model: next })}
        />
        <TimeChoice any="all" />
      </FilterBar>
      {error !== undefined && <p class="problem">{error}</p>}
      <WithheldNote count={value?.withheld} scorer={scorer} />
      {overview.judges
        ?.filter((trouble) => trouble.startsWith(`${scorer}: `))
        .map((trouble) => (
          <p key={trouble} class="problem">
            ▲ {trouble}
          </p>
        ))}
      {value !== undefined && value.all.runs === 0 && <p class="empty">Nothing has a score of these.</p>}
      {value !== undefined && value.all.runs > 0 && (
        <>
          <Total summary={value.all} units={units} worst={`${list}${toSearch({ ...same, sort: 'worst' })}`} />
          {value.unscored.length > 0 && (
            <p class="muted">
              Not scored:{' '}
              {value.unscored.map(({ reason, runs }) => `${runs.toLocaleString('en')} (${reason})`).join(', ')}.
            </p>
          )}
          {value.opinions !== undefined && value.opinions.given > 0 && (
            <p>
              Users: <a href={`${list}${toSearch({ ...same, feedback: 'disliked' })}`}>{dislikesOf(value.opinions)}</a>
              {value.opinions.passing > 0 && (
                <>
                  ;{' '}
                  <a href={`${list}${toSearch({ ...same, feedback: 'disliked', label: 'pass' })}`}>
                    {scorer} passes {value.opinions.passing} of these
                  </a>
                </>
              )}
              . <span class="muted">{NO_SAMPLE}</span>
            </p>
          )}
          <ScoreChart
            series={plotted.slice(0, GROUP_STYLES.length)}
            bucketMs={value.bucketMs}
            measure={measure}
            passAt={passPositionOf(overview, scorer)}
            unit={units.slice(0, -1)}
            onPeriod={openPeriod}
          />
          {value.series.length > 1 && (
            <p class="muted">
              {plural(value.series.length, 'group')}, the worst first; {Math.min(plotted.length, GROUP_STYLES.length)}{' '}
              drawn.
            </p>
          )}
          <Groups
            series={value.series}
            units={units}
            by={by}
            placeOfGroup={(group) => `${list}${toSearch({ ...same, ...groupFilter(by, units, group), sort: 'worst' })}`}
            onDraw={(names) => choose({ drawn: names.join('\n') })}
          />
          <PositionNote scorer={scorer} allVersions={version === undefined} />
        </>
      )}
    </section>
  )
}

type ListedUnits = 'runs' | 'conversations'

/** The filter of a list that a group is. */
function groupFilter(by: string, units: ListedUnits, group: string): Readonly<Record<string, string>> {
  if (by === 'agent') return { agent: group }
  if (units === 'conversations') return {}
  return by === 'agent_version' ? { agentVersion: group } : { [by]: group }
}

interface TotalProps {
  readonly summary: ScoreSummary
  readonly units: ListedUnits
  readonly worst: string
}

function Total({ summary, units, worst }: TotalProps) {
  return (
    <dl class="figures">
      <div>
        <dt>Failing</dt>
        <dd>{summary.failing === undefined ? '–' : percent(summary.failing.mean)}</dd>
      </div>
      <div>
        <dt>95 % interval</dt>
        <dd>{intervalOf(summary)}</dd>
      </div>
      <div>
        <dt>Mean position</dt>
        <dd>{summary.mean === undefined ? '–' : summary.mean.mean.toFixed(3)}</dd>
      </div>
      <div>
        <dt>Scored {units}</dt>
        <dd>{summary.runs.toLocaleString('en')}</dd>
      </div>
      <div>
        <dt>
          <span class="hidden">See</span>
        </dt>
        <dd class="link">
          <a href={worst}>The worst {units} →</a>
        </dd>
      </div>
    </dl>
  )
}

/** The interval of the failing share. */
export function intervalOf({ failing }: ScoreSummary): string {
  return failing === undefined ? '–' : `${percent(failing.interval95[0])} – ${percent(failing.interval95[1])}`
}

interface GroupsProps {
  readonly series: readonly ScoreSeries[]
  readonly units: ListedUnits
  readonly by: string
  readonly placeOfGroup: (group: string) => string
  readonly onDraw: (groups: readonly string[]) => void
}

function Groups({ series, units, by, placeOfGroup, onDraw }: GroupsProps) {
  const drawn = series.filter(({ isDrawn }) => isDrawn).map(({ group }) => group)
  const isFull = drawn.length >= GROUP_STYLES.length
  return (
    <Table
      label="Scores by group"
      heads={[
        ...texts(GROUPS.find(({ value }) => value === by)?.name ?? by),
        ...numbers('Failing', '95 % interval', 'Mean position', units === 'runs' ? 'Runs' : 'Conversations'),
        ...texts('Distribution'),
      ]}
    >
      {series.map(({ group, total, distribution, isDrawn }) => {
        const name = group === '' ? 'not recorded' : group
        const style = drawn.indexOf(group)
        return (
          <tr key={group}>
            <th scope="row">
              {series.length > 1 && (
                <input
                  type="checkbox"
                  class="draw-it"
                  aria-label={`Draw ${name}`}
                  checked={isDrawn}
                  disabled={!isDrawn && isFull}
                  onChange={() => onDraw(isDrawn ? drawn.filter((each) => each !== group) : [...drawn, group])}
                />
              )}
              <svg class={`swatch group-${style + 1}`} viewBox="0 0 24 8" aria-hidden="true">
                {style >= 0 && (
                  <line x1="0" x2="24" y1="4" y2="4" stroke-dasharray={GROUP_STYLES[style]?.dash.join(' ')} />
                )}
              </svg>
              {group === '' ? name : <a href={placeOfGroup(group)}>{group}</a>}
            </th>
            <td class="number">{total.failing === undefined ? '–' : percent(total.failing.mean)}</td>
            <td class="number">{intervalOf(total)}</td>
            <td class="number">{total.mean?.mean.toFixed(3) ?? '–'}</td>
            <td class="number">{total.runs.toLocaleString('en')}</td>
            <td>
              <Distribution shares={distribution} label={`${name}, ${plural(total.runs, units.slice(0, -1))}`} />
            </td>
          </tr>
        )
      })}
    </Table>
  )
}
