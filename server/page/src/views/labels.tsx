import type { RefObject } from 'preact'
import { useRef, useState } from 'preact/hooks'

import { exchange, send } from '../api.ts'
import type { ShownScorer, LabelState } from '../api.ts'
import { useService } from '../service.ts'
import { plural } from '../format.ts'
import { keepLabellerName, labellerName } from '../labeller.ts'
import { messageOf, useAnswer } from '../live.ts'
import { useTitle } from '../title.ts'
import { Choice } from '../parts/choice.tsx'
import { AgreementTable } from '../parts/agreement.tsx'
import { LabelFiles } from '../parts/label-files.tsx'
import { Labelling } from '../parts/labelling.tsx'
import { useChoices } from '../parts/place.ts'
import { ScorerChoice, scorersOf, versionsOf } from '../parts/scorer-choice.tsx'

/** People label runs without seeing the scorer's verdict, and see afterwards how well it agrees with them. */
export function LabelsView() {
  const { overview, changes } = useService()
  const { choices, choose } = useChoices()
  const [labeller, setLabeller] = useState(labellerName())
  const nameField = useRef<HTMLInputElement>(null)
  const [round, setRound] = useState(0)
  const [note, setNote] = useState('')
  const [isShowing, setShowing] = useState(false)
  const isJudge = new Set(overview.scorers.flatMap(({ scorer, kind }) => (kind === 'judge' ? [scorer] : [])))
  const ofRuns = scorersOf(overview, 'runs')
  const scorers = [...ofRuns.filter((each) => isJudge.has(each)), ...ofRuns.filter((each) => !isJudge.has(each))]
  const scorer = choices['scorer'] ?? scorers[0] ?? ''
  const versions = versionsOf(overview, scorer)
  const version = choices['version'] ?? versions[0] ?? ''
  const isReady = scorer !== '' && version !== ''
  const { value, error } = useAnswer<LabelState>(
    isReady ? '/api/labels' : undefined,
    { scorer, version },
    `${round}/${changes}/${labeller}`,
  )
  const { value: configured } = useAnswer<{ readonly scorers: readonly ShownScorer[] }>('/api/scorers', {})
  const description = configured?.scorers.find(({ id }) => id === scorer)?.description
  const [problem, setProblem] = useState<string>()
  const again = () => setRound((before) => before + 1)
  const askForName = () => {
    setProblem('Enter your name first: labels of different people are kept apart.')
    nameField.current?.focus()
  }
  const act = (work: Promise<unknown>) => {
    work
      .then(
        () => setProblem(undefined),
        (failure: unknown) => setProblem(messageOf(failure)),
      )
      .finally(again)
  }
  useTitle('Labels')
  if (!isReady)
    return (
      <p class="empty">
        There are no scores to label yet. <a href="/runs">Runs</a>
      </p>
    )
  return (
    <section>
      <h1>Labels</h1>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <ScorerChoice value={scorer} options={scorers} clears={['version']} />
        <Choice label="Version" value={version} options={versions} onChange={(next) => choose({ version: next })} />
        <NameField
          field={nameField}
          name={labeller}
          onName={(name) => {
            keepLabellerName(name)
            setLabeller(name)
            setProblem(undefined)
          }}
        />
      </form>
      {(problem ?? error) !== undefined && <p class="problem">{problem ?? error}</p>}
      {note !== '' && <p role="status">{note}</p>}
      {value !== undefined && (
        <>
          {value.waiting.length > 0 || isShowing ? (
            <Labelling
              key={`${scorer} ${version} ${labeller}`}
              scorer={scorer}
              description={description}
              version={version}
              labeller={labeller}
              state={value}
              onLabel={() => {
                // The verdict on the last run is shown too.
                setShowing(true)
                again()
              }}
              onNext={() => setShowing(false)}
              onNameless={askForName}
              onEnd={() => act(send('/api/labels/end', { scorer, version }))}
            />
          ) : (
            <Draw
              state={value}
              scorer={scorer}
              description={description}
              // The click on the draw button may also be the one that leaves the name field.
              onDraw={(count) =>
                labellerName() === '' ? askForName() : act(send('/api/labels/draw', { scorer, version, count }))
              }
            />
          )}
          {value.labelled.length > 0 && (
            <AgreementTable agreement={value.agreement} labelled={value.labelled} scorer={scorer} />
          )}
          <LabelFiles
            scorer={scorer}
            onSave={act}
            onImport={(lines) =>
              act(
                exchange<{ readonly imported: number }>('/api/labels/import', { lines }).then(({ imported }) =>
                  setNote(`${plural(imported, 'label')} imported.`),
                ),
              )
            }
          />
        </>
      )}
    </section>
  )
}

interface NameFieldProps {
  readonly field: RefObject<HTMLInputElement | null>
  readonly name: string
  /** Called when the field is left. */
  readonly onName: (name: string) => void
}

/** The name of the person who labels. A name counts once its field is left. */
function NameField({ field, name, onName }: NameFieldProps) {
  const [typed, setTyped] = useState(name)
  return (
    <label class="choice">
      <span>Your name</span>
      <input
        ref={field}
        type="text"
        value={typed}
        placeholder="who labels"
        autocomplete="off"
        maxLength={100}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        onChange={({ currentTarget }) => onName(currentTarget.value.trim())}
        // The label keys work once the field is left.
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && currentTarget.blur()}
      />
    </label>
  )
}

interface DrawProps {
  readonly state: LabelState
  readonly scorer: string
  readonly description: string | undefined
  readonly onDraw: (count: number) => void
}

function Draw({ state, scorer, description, onDraw }: DrawProps) {
  const [count, setCount] = useState(10)
  const { drawn, undrawn } = state.progress
  if (undrawn === 0)
    return (
      <p class="empty">
        {drawn === 0
          ? 'No run has a score of this version.'
          : 'All that was drawn is labelled, and there is nothing left to draw.'}
      </p>
    )
  return (
    <section class="draw">
      <h2>{drawn === 0 ? 'Draw runs to label' : 'All that was drawn is labelled'}</h2>
      {description !== undefined && (
        <p>
          <b>{scorer}</b>: {description}
        </p>
      )}
      <p>
        Runs are drawn at random, about half of them from those that the scorer fails. Each is weighted with 1 ÷ the
        probability of its draw, so that the agreement is an estimate for all stored runs. You will see the verdict only
        after you have given yours.
      </p>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault()
          onDraw(Math.min(count, undrawn))
        }}
      >
        <label class="choice">
          <span>How many of {undrawn.toLocaleString('en')}</span>
          <input
            type="number"
            min="1"
            max={Math.min(500, undrawn)}
            value={Math.min(count, undrawn)}
            onInput={({ currentTarget }) => setCount(currentTarget.valueAsNumber || 1)}
          />
        </label>
        <button class="primary" type="submit">
          Draw
        </button>
      </form>
    </section>
  )
}
