import { useLocation } from 'preact-iso'

import { at, toSearch } from '../api.ts'
import type { CommonAnswer, Query, ScoresOverTime } from '../api.ts'
import { percent, plural, time } from '../format.ts'
import { useAnswer } from '../live.ts'
import { FilterBar } from '../parts/filter-bar.tsx'
import { ScoreChart } from '../parts/chart.tsx'
import { filterOf, fromMs, placeOf, sharedOf, useChoices, withTrait } from '../parts/place.ts'
import type { Choices } from '../parts/place.ts'
import { AgentChoice, ScorerChoice, scorerOf, scorersOf, TimeChoice } from '../parts/scorer-choice.tsx'
import { WithheldNote } from '../parts/withheld-note.tsx'
import { useService } from '../service.ts'
import { useTitle } from '../title.ts'

type Found = CommonAnswer['found']
type Line = Found['common'][number]
type Trait = Line['traits'][number]

/** Why an agent fails: its level over time with what changed, and what its failing runs have in common. An alert's link opens it. */
export function WhyView() {
  const { overview, changes } = useService()
  const { route } = useLocation()
  const { choices } = useChoices()
  const scorers = scorersOf(overview, 'runs')
  const scorer = scorerOf('/why', choices, overview)
  const query: Query = { ...filterOf(choices), scorer }
  const path = scorer === '' ? undefined : '/api/common'
  const { value, error } = useAnswer<CommonAnswer>(path, query, changes)
  const level = useAnswer<ScoresOverTime>(
    value === undefined ? undefined : '/api/scores',
    { ...query, by: 'none', fromMs: value?.beforeMs ?? query['fromMs'] },
    changes,
  ).value
  const same = { ...sharedOf(choices), scorer }
  const openPeriod = (from: number, to: number) =>
    route(at(`/runs${toSearch({ ...same, time: '', since: '', from, to, label: 'fail' })}`))
  useTitle('Why')
  return (
    <section>
      <h1>
        Why {choices['agent'] === undefined ? 'runs' : <bdi>{choices['agent']}</bdi>} fail
        {choices['agent'] === undefined ? '' : 's'}
      </h1>
      <FilterBar>
        <ScorerChoice value={scorer} options={scorers} clears={[]} />
        <AgentChoice />
        <TimeChoice any="all" />
      </FilterBar>
      {error !== undefined && <p class="problem">{error}</p>}
      {scorer === '' && <p class="empty">There are no scores yet.</p>}
      <WithheldNote count={level?.withheld} scorer={scorer} />
      {value === undefined && error === undefined && scorer !== '' && <p class="muted">Comparing runs…</p>}
      {value !== undefined && value.found.runs === 0 && (
        <p class="empty">
          No run with a verdict of {scorer} fits these filters. <a href={`/runs${toSearch(sharedOf(choices))}`}>Runs</a>
        </p>
      )}
      {value !== undefined && value.found.runs > 0 && (
        <>
          <p class="lead">{leadOf(scorer, value, fromMs(choices))}</p>
          {level !== undefined && (
            <ScoreChart
              series={level.series}
              bucketMs={level.bucketMs}
              measure="failing"
              unit="run"
              marks={value.changes.map(({ timeMs, key, value: text }) => ({ timeMs, text: `${key} = ${text}` }))}
              onPeriod={openPeriod}
            />
          )}
          <div class="why-columns">
            <section>
              <h2>What the failing runs have in common</h2>
              <Common answer={value} choices={same} />
            </section>
            <Changes answer={value} choices={same} />
          </div>
        </>
      )}
    </section>
  )
}

function leadOf(
  scorer: string,
  { found, sampledFrom, withoutTraits }: CommonAnswer,
  sinceMs: number | undefined,
): string {
  const { rate, runs, failing, before } = found
  return [
    `${scorer} fails ${percent(rate)} of ${plural(runs, 'run')}${sinceMs === undefined ? '' : ` since ${time(sinceMs)}`} (${failing.toLocaleString('en')}).`,
    before === undefined ? '' : `Before: ${percent(before.rate)} of ${plural(before.runs, 'run')}.`,
    sampledFrom === undefined ? '' : `These are a sample of ${plural(sampledFrom, 'run')}.`,
    withoutTraits === 0
      ? ''
      : `${plural(withoutTraits, 'run')} are left out, because their traits are not kept any more.`,
  ].join(' ')
}

function Common({ answer, choices }: { readonly answer: CommonAnswer; readonly choices: Choices }) {
  const { common, left, needed } = answer.found
  if (answer.isTooFew || needed !== undefined) {
    return (
      <p>
        Too few failing runs to say
        {needed === undefined
          ? '.'
          : `: about ${needed.toLocaleString('en')} are needed to find something that half of them have, and one in five of all runs.`}{' '}
        <FailingRuns choices={choices} />
      </p>
    )
  }
  if (common.length === 0) {
    return (
      <p>
        Nothing that the spans record. Look at what they do not hold, such as the data behind a tool, or a model that
        changed behind its name. <FailingRuns choices={choices} />
      </p>
    )
  }
  return (
    <>
      <ol class="common">
        {common.map((line) => (
          <CommonLine key={nameOf(line.traits[0])} line={line} choices={choices} />
        ))}
      </ol>
      <p class="muted">
        Left: {plural(left.runs, 'run')}
        {left.runs > 0 && `, of which ${percent(left.rate)} fail`}.
      </p>
    </>
  )
}

function FailingRuns({ choices }: { readonly choices: Choices }) {
  return <a href={`/runs${toSearch({ ...choices, label: 'fail' })}`}>The failing runs →</a>
}

function CommonLine({ line, choices }: { readonly line: Line; readonly choices: Choices }) {
  const { traits, and, runs, failing, rate, rateWithout, rateBefore, coverage, examples } = line
  const [first, ...same] = traits
  return (
    <li>
      <h3>
        <TraitLink trait={first} choices={choices} />
      </h3>
      <div class="share-bar" aria-hidden="true">
        <span style={{ width: `${100 * rate}%` }} />
        <i style={{ left: `${100 * rateWithout}%` }} />
      </div>
      <p>
        <b>{percent(rate)}</b> of its {plural(runs, 'run')} fail ({failing.toLocaleString('en')}), of the others{' '}
        <b>{percent(rateWithout)}</b>
        {rateBefore !== undefined && <> (before: {percent(rateBefore)})</>}. {percent(coverage)} of the failing runs
        have it.
      </p>
      {same.length > 0 && (
        <p class="muted">
          The same failing runs:{' '}
          {same.map((trait, index) => (
            <>
              {index > 0 && '; '}
              <TraitLink key={nameOf(trait)} trait={trait} choices={choices} />
            </>
          ))}
        </p>
      )}
      {and !== undefined && (
        <p class="muted">
          Mostly those with{' '}
          <TraitLink trait={and.trait} choices={{ ...choices, trait: withTrait(choices, nameOf(first)) }} />:{' '}
          {percent(and.rate)} of {plural(and.runs, 'run')} fail, of the rest {percent(and.rateWithout)}.
        </p>
      )}
      <p>
        For example{' '}
        {examples.map((id, index) => (
          <>
            {index > 0 && ', '}
            <a key={id} href={placeOf(id)}>
              <code>{id.slice(0, 8)}</code>
            </a>
          </>
        ))}
      </p>
    </li>
  )
}

/** A trait, as a link to the failing runs that have it. Another scorer's verdict is no filter beside that of this one. */
function TraitLink({ trait, choices }: { readonly trait: Trait | undefined; readonly choices: Choices }) {
  if (trait === undefined || trait.isSymptom === true) return <bdi>{nameOf(trait)}</bdi>
  return (
    <a href={`/runs${toSearch({ ...choices, label: 'fail', trait: withTrait(choices, nameOf(trait)) })}`}>
      <bdi>{nameOf(trait)}</bdi>
    </a>
  )
}

function nameOf(trait: Trait | undefined): string {
  if (trait === undefined) return ''
  return trait.isSymptom === true ? `${trait.key} fails, too` : `${trait.key} = ${trait.value}`
}

/** What changed among all runs, and when. */
function Changes({
  answer: { changed, changes },
  choices,
}: {
  readonly answer: CommonAnswer
  readonly choices: Choices
}) {
  if (changed.length + changes.length === 0) return null
  return (
    <section>
      <h2>What changed</h2>
      <ul class="changes">
        {changes.map(({ timeMs, key, value }, index) => (
          <li key={`${key} ${value}`}>
            <span class="mark none">{String.fromCharCode(65 + (index % 26))}</span>{' '}
            <TraitLink trait={{ key, value }} choices={{ ...choices, since: '', time: '' }} /> since {time(timeMs)}
          </li>
        ))}
      </ul>
      {changed.length > 0 && <h3>Among all runs, compared with before</h3>}
      <ul class="changes">
        {changed.map(({ trait, from, to }) => (
          <li key={nameOf(trait)}>
            <bdi>{nameOf(trait)}</bdi>: {percent(from)} → {percent(to)} of the runs
          </li>
        ))}
      </ul>
    </section>
  )
}
