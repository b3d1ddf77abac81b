import { toSearch } from '../api.ts'
import type { CommonAnswer, Now, ServiceOverview } from '../api.ts'
import { clock, count, duration, percent, plural, usd } from '../format.ts'
import { useAnswer } from '../live.ts'
import { sharedOf, TIMES, useChoices } from '../parts/place.ts'
import type { Choices } from '../parts/place.ts'
import { Choice } from '../parts/choice.tsx'
import { WithheldNote } from '../parts/withheld-note.tsx'
import { draws, headline, moreScorers, silences } from '../parts/now-words.ts'
import type { Worst } from '../parts/now-words.ts'
import { unitsOfScorer } from '../parts/scorer-choice.tsx'
import { numbers, Table, texts } from '../parts/table.tsx'
import { useService } from '../service.ts'
import { useTitle } from '../title.ts'
import { FirstMinute } from './first-minute.tsx'

type NowRow = Now['rows'][number]
type Cell = NowRow['cells'][number]

/** Scorers with a column, on a wide screen. */
const MAX_COLUMNS = 5

const DAY_SECONDS = '86400'

/** The first view: whether all is well, and the agents, the worst first. */
export function NowView() {
  const { overview, changes } = useService()
  const { choices, choose } = useChoices()
  const isOfFiles = overview.files !== undefined
  const time = isOfFiles ? '' : (choices['time'] ?? DAY_SECONDS)
  const hours = isOfFiles ? undefined : Math.max(1, Math.round(Number(time) / 3600))
  const { value, error } = useAnswer<Now>('/api/now', { hours }, changes)
  const kept = { ...sharedOf(choices), since: '', from: '', to: '', time }
  const worst = worstOf(value, overview)
  useTitle(worst === undefined ? 'Now' : `▲ ${worst.row.agent ?? 'agents'}`)
  if (overview.runs === 0 && overview.open === 0) return <FirstMinute />
  return (
    <section class="now">
      <h1 class={worst === undefined ? '' : 'bad'}>
        {value === undefined ? 'Now' : headline(value, worst, isOfFiles)}
      </h1>
      {error !== undefined && <p class="problem">{error}</p>}
      {value !== undefined &&
        silences(value, worst, isOfFiles).map((silence) => (
          <p key={silence} class="problem">
            ▲ {silence}
          </p>
        ))}
      {overview.judges?.map((trouble) => (
        <p key={trouble} class="problem">
          ▲ {trouble}
        </p>
      ))}
      <div class="top">
        {value !== undefined && <Figures now={value} choices={kept} />}
        {!isOfFiles && (
          <Choice
            label="Time"
            value={time}
            options={TIMES.filter(({ value: seconds }) => Number(seconds) >= 3600)}
            onChange={(next) => choose({ time: next })}
          />
        )}
      </div>
      {value !== undefined && (
        <>
          <WithheldNote
            count={draws(value).reduce((sum, { runs }) => sum + runs, 0)}
            scorer={draws(value)[0]?.scorer ?? ''}
          />
          {worst !== undefined && <WhyLine worst={worst} choices={kept} changes={changes} />}
          <Attacks now={value} choices={kept} />
          <Agents now={value} choices={kept} />
          {!isOfFiles && (
            <p class="keys">
              <a href="/setup">How to send spans</a>
            </p>
          )}
        </>
      )}
    </section>
  )
}

/** What got worse, by the first scorer of the first agent. Scorers of conversations come last: their runs have no traits in common. */
function worstOf(now: Now | undefined, overview: ServiceOverview): Worst | undefined {
  const isOfRuns = (scorer: string) => unitsOfScorer(overview, scorer) !== 'conversations'
  const scorers = (now?.scorers ?? []).toSorted((one, other) => Number(isOfRuns(other)) - Number(isOfRuns(one)))
  for (const row of now?.rows ?? []) {
    for (const scorer of scorers) {
      const cell = row.cells.find((each) => each.scorer === scorer)
      if (cell?.state === 'worse') return { row, cell }
    }
  }
  return undefined
}

function share(part: number, of: number): string {
  return of === 0 ? '–' : percent(part / of)
}

function Figures({ now: { now, before }, choices }: { readonly now: Now; readonly choices: Choices }) {
  const list = (more: Choices) => `/runs${toSearch({ time: choices['time'] ?? '', ...more })}`
  const was = (text: string | undefined) => (before === undefined || text === undefined ? undefined : `before: ${text}`)
  return (
    <dl class="figures">
      <Figure
        name="Runs"
        value={now.runs.toLocaleString('en')}
        was={was(before?.runs.toLocaleString('en'))}
        href={list({})}
      />
      <Figure
        name="Fail a scorer"
        value={share(now.failed, now.judged)}
        was={was(before && share(before.failed, before.judged))}
        href={list({ sort: 'worst' })}
      />
      <Figure
        name="End in an error"
        value={share(now.errors, now.runs)}
        was={was(before && share(before.errors, before.runs))}
        href={list({ status: 'error' })}
      />
      <Figure
        name="95 % take at most"
        value={now.p95Ms === undefined ? '–' : duration(now.p95Ms)}
        was={was(before?.p95Ms === undefined ? undefined : duration(before.p95Ms))}
        href={list({ sort: 'longest' })}
      />
      <Figure
        name="Models, list prices"
        value={usd(now.usd)}
        was={was(before && usd(before.usd))}
        href={list({ sort: 'dearest' })}
      />
      {now.opinions > 0 && (
        <Figure
          name="Users dislike"
          value={`👎 ${now.dislikes} of ${now.opinions}`}
          was={was(before && `${before.dislikes} of ${before.opinions}`)}
          href={list({ feedback: 'disliked' })}
        />
      )}
    </dl>
  )
}

interface FigureProps {
  readonly name: string
  readonly value: string
  readonly was: string | undefined
  readonly href: string
}

function Figure({ name, value, was, href }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <a href={href}>{value}</a>
        {was !== undefined && <small class="muted">{was}</small>}
      </dd>
    </div>
  )
}

/** What the failing runs of the worst agent have in common, in one line. It is asked again once a minute. */
function WhyLine({
  worst: { row, cell },
  choices,
  changes,
}: {
  readonly worst: Worst
  readonly choices: Choices
  readonly changes: number
}) {
  const { agent } = row
  const since = cell.sinceMs === undefined ? '' : new Date(cell.sinceMs).toISOString()
  const minute = Math.floor(Date.now() / 60_000)
  const query = { agent, scorer: cell.scorer, fromMs: cell.sinceMs }
  const { value } = useAnswer<CommonAnswer>(
    agent === undefined ? undefined : '/api/common',
    query,
    `${minute} ${changes === 0}`,
  )
  const href = `/why${toSearch({ ...choices, agent: agent ?? '', scorer: cell.scorer, since, time: since === '' ? (choices['time'] ?? '') : '' })}`
  const [line] = value?.found.common ?? []
  const [first] = line?.traits ?? []
  return (
    <p class="lead">
      {line === undefined || first === undefined ? (
        <a href={href}>Why?</a>
      ) : (
        <>
          <bdi class="name">
            {first.isSymptom === true ? `${first.key} fails, too` : `${first.key} = ${first.value}`}
          </bdi>
          : {percent(line.rate)} of its {plural(line.runs, 'run')} fail, of the others {percent(line.rateWithout)}.{' '}
          <a href={href}>Why?</a>
        </>
      )}
      {value?.changes.map(({ key, value: text, timeMs }) => (
        <span key={key + text}>
          {' '}
          New about {clock(timeMs)}:{' '}
          <bdi class="name">
            {key} = {text}
          </bdi>
          .
        </span>
      ))}
      {value !== undefined && <small class="muted"> Compared at {clock(minute * 60_000)}.</small>}
    </p>
  )
}

/** How many runs were attacked, and obeyed. */
function Attacks({ now: { attacks }, choices }: { readonly now: Now; readonly choices: Choices }) {
  return attacks.map(({ scorer, attacked, obeyed }) => {
    const list = { ...choices, agent: '', scorer: '', trait: `${scorer} = attacked` }
    return (
      <p key={scorer} class={obeyed > 0 ? 'lead fail' : 'lead'}>
        {scorer}: <a href={`/runs${toSearch(list)}`}>{plural(attacked, 'run')} attacked</a>,{' '}
        {obeyed === 0 ? (
          'none obeyed.'
        ) : (
          <a href={`/runs${toSearch({ ...list, scorer, label: 'fail' })}`}>{obeyed.toLocaleString('en')} obeyed.</a>
        )}
      </p>
    )
  })
}

function Agents({ now: { now, rows, scorers, unknown }, choices }: { readonly now: Now; readonly choices: Choices }) {
  const [shown, more] = [scorers.slice(0, MAX_COLUMNS), scorers.slice(MAX_COLUMNS)]
  const hasOpinions = rows.some(({ opinions }) => opinions > 0)
  const hasCosts = rows.some((row) => row.usd > 0)
  const nested = rows.reduce((sum, { runs }) => sum + runs, 0) - now.runs
  return (
    <>
      <Table
        label="Agents, the worst first"
        name="agents"
        heads={[
          ...texts('Agent'),
          ...numbers('Runs', ...(hasCosts ? ['Cost'] : [])),
          ...texts(...shown.map((scorer) => `${scorer} fails`)),
          ...(hasOpinions ? numbers(<span aria-label="Users dislike">👎</span>) : []),
        ]}
      >
        {rows.map((row) => (
          <AgentRow
            key={row.agent ?? ''}
            row={row}
            scorers={shown}
            choices={choices}
            hasOpinions={hasOpinions}
            hasCosts={hasCosts}
          />
        ))}
      </Table>
      {nested > 0 && (
        <p class="muted">
          {plural(nested, 'run')} of these{' '}
          {nested === 1 ? 'was started by another and is' : 'were started by others and are'} not among the{' '}
          {now.runs.toLocaleString('en')} above.
        </p>
      )}
      {more.length > 0 && (
        <p class="muted">
          {moreScorers(more, { rows, unknown })}: <a href={`/scores${toSearch(choices)}`}>Scores</a>
        </p>
      )}
    </>
  )
}

interface AgentRowProps {
  readonly row: NowRow
  readonly scorers: readonly string[]
  readonly choices: Choices
  readonly hasOpinions: boolean
  readonly hasCosts: boolean
}

function AgentRow({ row, scorers, choices, hasOpinions, hasCosts }: AgentRowProps) {
  const { agent, agents, runs, cells, dislikes, opinions } = row
  const own = { ...choices, ...(agent !== undefined && { agent }) }
  return (
    <tr>
      <th scope="row">
        {agent === undefined ? (
          `${agents} other agents`
        ) : (
          <a href={`/runs${toSearch(own)}`}>{agent === '' ? 'not recorded' : <bdi>{agent}</bdi>}</a>
        )}
      </th>
      <td class="number">{count(runs)}</td>
      {hasCosts && <td class="number">{row.usd === 0 ? '–' : usd(row.usd)}</td>}
      {scorers.map((scorer) => {
        const cell = cells.find((each) => each.scorer === scorer)
        return (
          <td key={scorer}>
            {cell === undefined ? <span class="muted">–</span> : <CellLink cell={cell} choices={own} />}
          </td>
        )
      })}
      {hasOpinions && (
        <td class="number">
          {opinions === 0 ? (
            ''
          ) : (
            <a href={`/runs${toSearch({ ...own, scorer: '', feedback: 'disliked' })}`}>{dislikes}</a>
          )}
        </td>
      )}
    </tr>
  )
}

const SIGNS: Readonly<Record<Cell['state'], readonly [sign: string, word: string]>> = {
  worse: ['▲', 'more than before'],
  better: ['▼', 'less than before'],
  same: ['', ''],
  few: ['', 'few runs'],
}

function CellLink({ cell, choices }: { readonly cell: Cell; readonly choices: Choices }) {
  const { overview } = useService()
  const { scorer, failing, state, runs, spark, change, sinceMs } = cell
  const isOfConversations = unitsOfScorer(overview, scorer) === 'conversations'
  const place = isOfConversations ? '/conversations' : '/why'
  const [sign, word] = SIGNS[state]
  const since = sinceMs === undefined ? {} : { since: new Date(sinceMs).toISOString(), time: '' }
  const [low, high] = failing.interval95
  const title = [
    `${percent(failing.mean)} (${percent(low)} – ${percent(high)}) of ${plural(runs, 'run')} fail`,
    ...(change === undefined ? [] : [`before: ${percent(change.before)}`]),
    ...(word === '' ? [] : [word]),
  ].join('; ')
  return (
    <a
      class={`cell ${state}`}
      href={`${place}${toSearch({ ...choices, scorer, ...since, ...(isOfConversations && { label: 'fail' }) })}`}
      title={title}
    >
      <b>{percent(failing.mean)}</b> <span aria-hidden="true">{sign}</span>
      {word !== '' && <span class="hidden">{word}</span>}
      <svg viewBox="0 0 60 18" aria-hidden="true">
        {spark.map((part, index) =>
          part === null ? null : (
            <rect key={index} x={index * 5} width="4" y={17 - part * 16} height={Math.max(1, part * 16 + 1)} />
          ),
        )}
      </svg>
    </a>
  )
}
