import type { ScoresOverTime, ScoreSeries, ScoreSummary } from '../api.ts'
import { toSearch } from '../api.ts'
import { useService } from '../service.ts'
import { percent, plural } from '../format.ts'
import { useTitle } from '../title.ts'
import { useAnswer } from '../live.ts'
import { Distribution, GROUP_STYLES, MeanChart } from '../parts/chart.tsx'
import { Choice } from '../parts/choice.tsx'
import { fromMs, useChoices } from '../parts/place.ts'
import { WithheldNote } from '../parts/withheld-note.tsx'
import { PositionNote } from '../parts/position-note.tsx'
import {
  AgentChoice,
  mostFailing,
  ScorerChoice,
  scorersOf,
  TimeChoice,
  unitsOfScorer,
  versionsOf,
} from '../parts/scorer-choice.tsx'

const GROUPS = [
  { value: 'agent', name: 'Agent' },
  { value: 'version', name: 'Scorer version' },
  { value: 'agent_version', name: 'Agent version' },
  { value: 'model', name: 'Model' },
]

/** The scores of one scorer over time: mean with interval, failing share, and distribution, by group. */
export function ScoresView() {
  const { overview, changes } = useService()
  const { choices, choose } = useChoices()
  const scorer = choices['scorer'] ?? mostFailing(overview) ?? ''
  const by = choices['by'] ?? 'agent'
  const { agent, version, model } = choices
  const query = { scorer, by, agent, version, model, fromMs: fromMs(choices['time']) }
  const { value, error } = useAnswer<ScoresOverTime>(scorer === '' ? undefined : '/api/scores', query, changes)
  const units = unitsOfScorer(overview, scorer) === 'conversations' ? 'conversations' : 'runs'
  const list = placeOfWorst(units)
  useTitle('Scores')
  if (scorer === '')
    return (
      <p class="empty">
        There are no scores yet. <a href="/">Runs</a>
      </p>
    )
  return (
    <section>
      <h1>Scores over time</h1>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <ScorerChoice value={scorer} options={scorersOf(overview)} clears={['version']} />
        <Choice label="By" value={by} options={GROUPS} onChange={(next) => choose({ by: next })} />
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
      </form>
      {error !== undefined && <p class="problem">{error}</p>}
      <WithheldNote count={value?.withheld} scorer={scorer} />
      {value !== undefined && value.all.runs === 0 && <p class="empty">Nothing has a score of these.</p>}
      {value !== undefined && value.all.runs > 0 && (
        <>
          <Total summary={value.all} units={units} worst={`${list}${toSearch({ scorer, sort: 'worst', agent })}`} />
          <MeanChart series={value.series} bucketMs={value.bucketMs} />
          <Groups series={value.series} scorer={scorer} units={units} by={by} />
          <PositionNote scorer={scorer} allVersions={version === undefined} />
        </>
      )}
    </section>
  )
}

type ListedUnits = 'runs' | 'conversations'

/** Address of the list of what a scorer scores. */
function placeOfWorst(units: ListedUnits): string {
  return units === 'runs' ? '/' : '/conversations'
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
        <dt>Mean</dt>
        <dd>{summary.mean === undefined ? '–' : summary.mean.mean.toFixed(3)}</dd>
      </div>
      <div>
        <dt>95 % interval</dt>
        <dd>{intervalOf(summary)}</dd>
      </div>
      <div>
        <dt>Failing</dt>
        <dd>{summary.failing === undefined ? '–' : percent(summary.failing)}</dd>
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

export function intervalOf({ mean }: ScoreSummary): string {
  return mean === undefined ? '–' : `${mean.interval95[0].toFixed(2)} – ${mean.interval95[1].toFixed(2)}`
}

function Groups({
  series,
  scorer,
  units,
  by,
}: {
  readonly series: readonly ScoreSeries[]
  readonly scorer: string
  readonly units: ListedUnits
  readonly by: string
}) {
  const filter = by === 'agent' || (units === 'runs' && (by === 'model' || by === 'version')) ? by : undefined
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Scores by group">
      <table>
        <thead>
          <tr>
            <th scope="col">{GROUPS.find(({ value }) => value === by)?.name ?? by}</th>
            <th scope="col" class="number">
              Mean
            </th>
            <th scope="col" class="number">
              95 % interval
            </th>
            <th scope="col" class="number">
              Failing
            </th>
            <th scope="col" class="number">
              {units === 'runs' ? 'Runs' : 'Conversations'}
            </th>
            <th scope="col">Distribution</th>
          </tr>
        </thead>
        <tbody>
          {series.map(({ group, total, distribution }, index) => (
            <tr key={group}>
              <th scope="row">
                <svg class={`swatch group-${index + 1}`} viewBox="0 0 24 8" aria-hidden="true">
                  {index < GROUP_STYLES.length && (
                    <line x1="0" x2="24" y1="4" y2="4" stroke-dasharray={GROUP_STYLES[index]?.dash.join(' ')} />
                  )}
                </svg>
                {filter === undefined || group === '' ? (
                  group === '' ? (
                    'not recorded'
                  ) : (
                    group
                  )
                ) : (
                  <a href={`${placeOfWorst(units)}${toSearch({ scorer, [filter]: group, sort: 'worst' })}`}>{group}</a>
                )}
              </th>
              <td class="number">{total.mean?.mean.toFixed(3) ?? '–'}</td>
              <td class="number">{intervalOf(total)}</td>
              <td class="number">{total.failing === undefined ? '–' : percent(total.failing)}</td>
              <td class="number">{total.runs.toLocaleString('en')}</td>
              <td>
                <Distribution
                  shares={distribution}
                  label={`${group === '' ? 'scores' : group}, ${plural(total.runs, units.slice(0, -1))}`}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
