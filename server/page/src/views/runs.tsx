import { useRef, useState } from 'preact/hooks'

import { EXAMPLE_TRACE } from '../../../src/page/example-trace.ts'
import { toSearch } from '../api.ts'
import type { ListedRun, OpenRun, RunList } from '../api.ts'
import { useService } from '../service.ts'
import { ago, count, duration, plural, time, usd } from '../format.ts'
import { useTitle } from '../title.ts'
import { useAnswer, useMore } from '../live.ts'
import { FilterBar } from '../parts/filter-bar.tsx'
import { Choice } from '../parts/choice.tsx'
import { AgentChoice, namedScorers, scorersOf, TimeChoice, VerdictChoice } from '../parts/scorer-choice.tsx'
import { useRowKeys } from '../parts/keys.ts'
import { keepListPlace, placeOf, queryOf, useChoices } from '../parts/place.ts'
import type { Choices } from '../parts/place.ts'
import { runStatusOf } from '../parts/run-status.ts'
import { Opinions } from '../parts/opinions.tsx'
import { ScoreMarks } from '../parts/score-mark.tsx'
import { WithheldNote } from '../parts/withheld-note.tsx'
import { SearchField, TypedField } from '../parts/typed-field.tsx'
import { FirstMinute } from './first-minute.tsx'

/** The list of runs, in progress and scored, with its filters. */
export function RunsView() {
  const { overview, changes } = useService()
  const { choices, choose } = useChoices()
  const query = queryOfRuns(choices)
  const { value, error } = useAnswer<RunList>('/api/runs', query, changes)
  const more = useMore('/api/runs', query, value)
  const { rows, isOver, added } = useStill(merge(more.pages.flatMap(({ runs }) => runs)))
  const isFiltered = Object.keys(choices).length > 0
  const open = isFiltered ? [] : (value?.open ?? [])
  keepListPlace('/runs', toSearch(choices))
  useRowKeys()
  useTitle('Runs')
  if (value !== undefined && rows.length + open.length === 0 && !isFiltered && overview.runs === 0)
    return <FirstMinute />
  return (
    <>
      <h1 class="hidden">Runs</h1>
      <Filters />
      {error !== undefined && <p class="problem">{error}</p>}
      <WithheldNote count={value?.withheld} scorer={choices['scorer'] ?? ''} />
      {choices['label'] === disputed.label && choices['feedback'] === disputed.feedback && (
        <p class="note">
          {choices['scorer']} passes these runs, and users dislike them: one of the two is wrong.{' '}
          <a href={`/labels${toSearch({ scorer: choices['scorer'] })}`}>Label runs</a>, to find out how often the scorer
          is.
        </p>
      )}
      {value?.total !== undefined && (
        <p class="fits muted" role="status">
          {isFiltered
            ? `${fitting(value.total)} of ${overview.runs.toLocaleString('en')} fit`
            : plural(overview.runs, 'run')}
          {added > 0 && ` · ${plural(added, 'new run')}, shown when the pointer leaves the list`}
        </p>
      )}
      {rows.length + open.length > 0 && (
        <div class="list-head" role="group" aria-label="Heads">
          <span />
          <span>Agent</span>
          <span class="texts">
            <span>Question</span>
            <span>Answer</span>
          </span>
          {HEADS.map(({ name, sort, place, order }) => (
            <button
              key={name}
              type="button"
              class={`as-link ${place}`}
              title={order}
              aria-pressed={(choices['sort'] ?? '') === sort}
              onClick={() => choose({ sort })}
            >
              {name}
            </button>
          ))}
        </div>
      )}
      <ol class="runs" aria-label="Runs" onPointerEnter={() => isOver(true)} onPointerLeave={() => isOver(false)}>
        {open.map((run) => (
          <OpenRow key={run.id} run={run} />
        ))}
        {rows.map((run) => (
          <Row key={run.id} run={run} scorer={choices['scorer']} />
        ))}
      </ol>
      {value !== undefined && rows.length + open.length === 0 && (
        <p class="empty">
          No run fits these filters. <a href="/runs">Show all runs</a>
        </p>
      )}
      {more.next !== undefined && (
        <button type="button" class="more" onClick={more.load}>
          Older runs
        </button>
      )}
      {overview.retention !== undefined && (
        <p class="keys muted wide-only">
          Runs are kept for {plural(Math.round(overview.retention.maxAgeMs / 86_400_000), 'day')}
        </p>
      )}
    </>
  )
}

function queryOfRuns(choices: Choices) {
  const hasScorer = choices['scorer'] !== undefined
  const ofScorer = hasScorer ? {} : { label: undefined, minScore: undefined, maxScore: undefined }
  return { ...queryOf(choices), ...ofScorer }
}

function fitting(total: number): string {
  return total < 10_000 ? plural(total, 'run') : '10,000 runs or more'
}

/** Keeps the rows where they are while the pointer is over them, so that nobody opens another run than the one that was meant. */
function useStill(rows: readonly ListedRun[]) {
  const [isPointed, isOver] = useState(false)
  const kept = useRef(rows)
  const known = new Set(kept.current.map(({ id }) => id))
  const latest = kept.current[0]?.seq ?? Infinity
  const added = isPointed ? rows.filter(({ id, seq }) => !known.has(id) && seq > latest).length : 0
  if (added === 0) kept.current = rows
  return { rows: kept.current, isOver, added }
}

/** The first page changes while later ones stay, so a run may be on both: it is shown once. */
function merge(runs: readonly ListedRun[]): readonly ListedRun[] {
  return [...new Map(runs.map((run) => [run.id, run])).values()]
}

/** Heads that order the list. */
const HEADS = [
  { name: 'Scores', sort: 'worst', place: '', order: 'worst first' },
  { name: 'Cost', sort: 'dearest', place: 'cost', order: 'dearest first' },
  { name: 'Took', sort: 'longest', place: 'took', order: 'longest first' },
  { name: 'Ago', sort: '', place: 'when', order: 'last arrived first' },
] as const

const FEEDBACK = [
  { value: 'disliked', name: '👎 disliked' },
  { value: 'liked', name: '👍 liked' },
  { value: 'commented', name: 'commented' },
  { value: 'any', name: 'said anything' },
]

const LEAST = [
  { name: 'minSeconds', label: 'Took, s or more' },
  { name: 'minUsd', label: 'Cost, $ or more' },
]

/** What a judge passes and users dislike: the runs that are worth a label first. */
const disputed = { label: 'pass', feedback: 'disliked' } as const

function Filters() {
  const { overview } = useService()
  const { choices, choose } = useChoices()
  const scorers = scorersOf(overview, 'runs')
  const hasScorer = choices['scorer'] !== undefined
  const judge = overview.scorers.find(({ kind, scorer }) => kind === 'judge' && scorers.includes(scorer))?.scorer
  const typed = (name: string) => (value: string) => choose({ [name]: value })
  return (
    <FilterBar isSearch>
      <SearchField placeholder="Search texts, tools, ids" />
      <AgentChoice />
      <Choice
        label="Status"
        any="any"
        value={choices['status'] ?? ''}
        options={['ok', 'error', 'aborted', 'waiting', 'unknown']}
        onChange={(status) => choose({ status })}
      />
      <TimeChoice any="any" />
      <Choice
        label="Users"
        any="any"
        value={choices['feedback'] ?? ''}
        options={FEEDBACK}
        onChange={(feedback) => choose({ feedback })}
      />
      <Choice
        label="Scorer"
        any="any"
        value={choices['scorer'] ?? ''}
        options={namedScorers(overview, scorers)}
        onChange={(scorer) => choose(scorer === '' ? { scorer, label: '', minScore: '', maxScore: '' } : { scorer })}
      />
      {hasScorer && (
        <>
          <VerdictChoice others={[{ value: 'none', name: '– not scored' }]} />
          <label class="choice range">
            <span>Score, 0 to 1</span>
            <span>
              <TypedField
                type="number"
                label="lowest score"
                max="1"
                placeholder="0"
                value={choices['minScore'] ?? ''}
                onType={typed('minScore')}
              />
              –
              <TypedField
                type="number"
                label="highest score"
                max="1"
                placeholder="1"
                value={choices['maxScore'] ?? ''}
                onType={typed('maxScore')}
              />
            </span>
          </label>
        </>
      )}
      {LEAST.map(({ name, label }) => (
        <label key={name} class="choice range">
          <span>{label}</span>
          <TypedField type="number" label={label} placeholder="any" value={choices[name] ?? ''} onType={typed(name)} />
        </label>
      ))}
      <Choice
        label="Order"
        any="last arrived first"
        value={choices['sort'] ?? ''}
        options={[
          { value: 'worst', name: hasScorer ? 'worst first' : 'most failures first' },
          { value: 'longest', name: 'longest first' },
          { value: 'dearest', name: 'dearest first' },
        ]}
        onChange={(sort) => choose({ sort })}
      />
      {judge !== undefined && (
        <a class="clear" href={`/runs${toSearch({ ...choices, ...disputed, scorer: choices['scorer'] ?? judge })}`}>
          Judge passes, users dislike
        </a>
      )}
      {Object.keys(choices).length > 0 && (
        <a class="clear" href="/runs">
          Clear
        </a>
      )}
    </FilterBar>
  )
}

function OpenRow({ run }: { readonly run: OpenRun }) {
  return (
    <li>
      <a class="run-row open" href={placeOf(run.id)}>
        <span class="status">
          <span class="pulse" aria-hidden="true" />
          <span class="hidden">in progress</span>
        </span>
        <span class="agent">{run.agent === '' ? run.service : run.agent}</span>
        <span class="texts">
          <span class="question">{run.question === '' ? '…' : run.question}</span>
        </span>
        <span class="marks">
          <span class="mark none">in progress · {plural(run.spans, 'span')}</span>
        </span>
        <span class="cost" />
        <span class="took" />
        <time class="when">{ago(run.firstMs, Date.now())}</time>
      </a>
    </li>
  )
}

/** @param scorer The scorer that the list is filtered by. */
function Row({ run, scorer }: { readonly run: ListedRun; readonly scorer: string | undefined }) {
  const [sign, tone] = runStatusOf(run.status)
  const tokens = (run.input_tokens ?? 0) + (run.output_tokens ?? 0)
  const judgesUsd = run.scores.reduce((sum, { cost_usd: cost }) => sum + (cost ?? 0), 0)
  return (
    <li>
      <a class="run-row" href={placeOf(run.id)}>
        <span class={`status ${tone}`} title={run.status}>
          <span aria-hidden="true">{sign}</span>
          <span class="hidden">{run.status}</span>
        </span>
        <span class="agent" title={run.agent}>
          {run.agent === '' ? run.service : run.agent}
        </span>
        <span class="texts">
          <span class="question">
            {run.question === '' ? <i class="muted">question not recorded</i> : run.question}
          </span>
          <span class="answer">{run.answer}</span>
        </span>
        <span class="marks">
          {run.trace_id === EXAMPLE_TRACE && <span class="mark warn">example</span>}
          <Opinions opinions={run.opinions} />
          <ScoreMarks scores={run.scores} chosen={scorer} />
        </span>
        <span
          class="cost"
          title={[
            `${tokens.toLocaleString('en')} tokens`,
            run.cost_usd === null ? 'a model without a known price' : `${usd(run.cost_usd)} at list prices`,
            ...(judgesUsd > 0 ? [`judges ${usd(judgesUsd)}`] : []),
          ].join(', ')}
        >
          {run.cost_usd !== null ? usd(run.cost_usd) : tokens > 0 && `${count(tokens)} tok`}
        </span>
        <span class="took">{duration(run.end_ms - run.start_ms)}</span>
        <time class="when" dateTime={new Date(run.start_ms).toISOString()} title={time(run.start_ms)}>
          {ago(run.end_ms, Date.now())}
        </time>
      </a>
    </li>
  )
}
