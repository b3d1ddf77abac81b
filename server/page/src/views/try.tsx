import { useEffect, useState } from 'preact/hooks'

import { exchange, send } from '../api.ts'
import type { ShownScorer, Evaluation, ListedRun, RunList, TrialEstimate, TrialResult } from '../api.ts'
import { plural, usd } from '../format.ts'
import { messageOf, readLines, useAnswer } from '../live.ts'
import { useTitle } from '../title.ts'
import { FilterBar } from '../parts/filter-bar.tsx'
import { Choice } from '../parts/choice.tsx'
import { AgentChoice } from '../parts/scorer-choice.tsx'
import { placeOf, useChoices } from '../parts/place.ts'
import { markOf, ScoreValue, VerdictMark } from '../parts/score-mark.tsx'
import { Table, texts } from '../parts/table.tsx'

const COUNTS = ['5', '10', '20', '50']

/** Scores runs again with a configured scorer, and shows old and new scores side by side. Nothing is stored. */
export function TryView() {
  const { choices, choose } = useChoices()
  const [problem, setProblem] = useState<string>()
  const { value: configured } = useAnswer<{ readonly scorers: readonly ShownScorer[] }>('/api/scorers', {})
  const scorers = configured?.scorers ?? []
  const scorer = scorers.find(({ id }) => id === choices['scorer']) ?? scorers[0]
  const given = choices['runs']?.split(',')
  const limit = choices['count'] ?? '10'
  const { value: list } = useAnswer<RunList>('/api/runs', {
    agent: choices['agent'],
    limit: given === undefined ? limit : 200,
  })
  const runs = list?.runs ?? []
  const chosen = given ?? runs.slice(0, Number(limit)).map(({ id }) => id)
  useTitle('Try a scorer')
  return (
    <section>
      <h1>Try a scorer</h1>
      <p class="muted">
        Runs that are stored are scored again with a configured scorer. What comes out is shown here, and neither stored
        nor sent.
      </p>
      <FilterBar>
        <Choice
          label="Scorer"
          value={scorer?.id ?? ''}
          options={scorers.map(({ id }) => id)}
          onChange={(next) => choose({ scorer: next })}
        />
        {given === undefined ? (
          <>
            <AgentChoice />
            <Choice
              label="How many, newest first"
              value={limit}
              options={COUNTS}
              onChange={(next) => choose({ count: next })}
            />
          </>
        ) : (
          <p class="choice">
            <span>Runs</span>
            <span>
              {plural(given.length, 'chosen run')} · <a href="/try">choose others</a>
            </span>
          </p>
        )}
      </FilterBar>
      {problem !== undefined && <p class="problem">{problem}</p>}
      {scorer !== undefined && chosen.length > 0 && (
        <Trial
          key={`${scorer.id} ${chosen.join()}`}
          scorer={scorer}
          runIds={chosen}
          runs={runs}
          onProblem={setProblem}
        />
      )}
      {chosen.length === 0 && <p class="empty">There are no runs to score.</p>}
    </section>
  )
}

interface TrialProps {
  readonly scorer: ShownScorer
  readonly runIds: readonly string[]
  readonly runs: readonly ListedRun[]
  readonly onProblem: (problem: string | undefined) => void
}

function Trial({ scorer, runIds, runs, onProblem }: TrialProps) {
  const [estimate, setEstimate] = useState<TrialEstimate>()
  const [capUsd, setCapUsd] = useState<number>()
  const [results, setResults] = useState<ReadonlyMap<string, TrialResult>>(new Map())
  const [isRunning, setRunning] = useState(false)
  useEffect(() => {
    exchange<TrialEstimate>('/api/trials/estimate', { scorer: scorer.id, runIds }).then(
      setEstimate,
      (failure: unknown) => onProblem(messageOf(failure)),
    )
  }, [])
  const cap = capUsd ?? Math.ceil((estimate?.costUsd ?? 0) * 100) / 100
  const start = async (): Promise<void> => {
    setRunning(true)
    setResults(new Map())
    try {
      const response = await send('/api/trials', { scorer: scorer.id, runIds, capUsd: cap })
      await readLines(response, (line) => {
        if (line === '') return
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- page and service are one package
        const result = JSON.parse(line) as TrialResult
        setResults((before) => new Map([...before, [result.runId, result]]))
      })
      onProblem(undefined)
    } catch (failure) {
      onProblem(messageOf(failure))
    }
    setRunning(false)
  }
  return (
    <>
      <div class="trial">
        <p>
          <b>{scorer.id}</b> {scorer.description}
        </p>
        {estimate === undefined ? (
          <p class="muted">Working out what it costs…</p>
        ) : (
          <p>
            {scorer.kind === 'code'
              ? `${plural(estimate.runs, 'run')}, by code: it costs nothing.`
              : `${plural(estimate.runs, 'run')}, at most ${plural(estimate.calls, 'call')} of ${scorer.model ?? 'the judge'}${estimate.costUsd === undefined ? '; its price is not known, so that it cannot be capped' : `, at most ${usd(estimate.costUsd)}`}.`}
          </p>
        )}
        {estimate?.unavailable !== undefined && <p class="problem">{estimate.unavailable}</p>}
        <form
          class="filters"
          onSubmit={(event) => {
            event.preventDefault()
            void start()
          }}
        >
          {scorer.kind === 'judge' && estimate?.costUsd !== undefined && (
            <label class="choice">
              <span>Cap, US dollars</span>
              <input
                type="number"
                min="0"
                step="0.01"
                value={cap}
                onInput={({ currentTarget }) => setCapUsd(currentTarget.valueAsNumber || 0)}
              />
            </label>
          )}
          <button
            class="primary"
            type="submit"
            disabled={isRunning || estimate === undefined || estimate.unavailable !== undefined}
          >
            {isRunning ? `Scoring… ${results.size} of ${runIds.length}` : 'Score again'}
          </button>
        </form>
      </div>
      <Table label="Old and new scores" heads={texts('Run', 'Stored', 'Now', 'Why')}>
        {runIds.map((runId) => (
          <Row
            key={runId}
            runId={runId}
            run={runs.find(({ id }) => id === runId)}
            scorer={scorer}
            result={results.get(runId)}
            isRunning={isRunning}
          />
        ))}
      </Table>
    </>
  )
}

interface RowProps {
  readonly runId: string
  readonly run: ListedRun | undefined
  readonly scorer: ShownScorer
  readonly result: TrialResult | undefined
  readonly isRunning: boolean
}

function Row({ runId, run, scorer, result, isRunning }: RowProps) {
  const stored = run?.scores.find((each) => each.scorer === scorer.id)
  const now = result !== undefined && 'evaluation' in result ? result.evaluation : undefined
  const { sign, tone, word } = markOf(stored?.status ?? 'skipped', stored?.label)
  return (
    <tr>
      <th scope="row">
        <a href={placeOf(runId)}>{run === undefined || run.question === '' ? runId.slice(0, 8) : run.question}</a>
      </th>
      <td>
        <span class={`mark ${tone}`}>
          <span aria-label={word}>{sign}</span>{' '}
          {stored?.value === undefined || stored.value === null ? (
            stored?.status === 'withheld' ? (
              'to label'
            ) : (
              (stored?.reason ?? 'none')
            )
          ) : (
            <ScoreValue value={stored.value} isLower={scorer.better === 'lower'} />
          )}
        </span>
      </td>
      <td>
        {now === undefined ? (
          <span class="muted">{result !== undefined ? 'not scored' : isRunning ? '…' : ''}</span>
        ) : (
          <VerdictMark scorer={now.scorer} score={now.score} />
        )}
      </td>
      <td class="text">{whyOf(result, now)}</td>
    </tr>
  )
}

function whyOf(result: TrialResult | undefined, now: Evaluation | undefined): string {
  if (now !== undefined) return now.score.status === 'scored' ? (now.score.explanation ?? '') : now.score.message
  return result !== undefined && 'unavailable' in result ? result.unavailable : ''
}
