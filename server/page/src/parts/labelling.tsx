import { useEffect, useRef, useState } from 'preact/hooks'

import { read, send } from '../api.ts'
import type { LabelState, RunDetails } from '../api.ts'
import { messageOf } from '../live.ts'
import { Conversation } from './conversation.tsx'
import { useKeys } from './keys.ts'
import { Verdict } from './verdicts.tsx'

interface LabellingProps {
  readonly scorer: string
  /** What the score means; `undefined` if the scorer is no longer configured. */
  readonly description: string | undefined
  readonly version: string
  readonly labeller: string
  readonly state: LabelState
  readonly onLabel: () => void
  /** Called when the person has seen the verdict. */
  readonly onNext: () => void
  /** Called when a person without a name labels a run. */
  readonly onNameless: () => void
  /** Called when the verdicts on unlabelled runs should be shown. */
  readonly onEnd: () => void
}

/** Shows one run at a time. `p` and `f` label it; then the scorer's verdict is shown, and either key continues. */
export function Labelling(props: LabellingProps) {
  const { scorer, description, version, labeller, state, onLabel, onNext, onNameless, onEnd } = props
  const [given, setGiven] = useState<{ readonly runId: string; readonly label: string }>()
  const [skipped, setSkipped] = useState<ReadonlySet<string>>(new Set())
  const [problem, setProblem] = useState<string>()
  const note = useRef<HTMLTextAreaElement>(null)
  const next = state.waiting.find(({ runId }) => !skipped.has(runId)) ?? state.waiting[0]
  const runId = given?.runId ?? next?.runId ?? ''
  const [details, setDetails] = useState<RunDetails>()
  // The service returns the verdict only after the label, so the run is read again then.
  useEffect(() => {
    let isCurrent = true
    setDetails((before) => (before?.run.id === runId ? before : undefined))
    if (runId !== '') {
      read<RunDetails>('/api/run', { id: runId }).then(
        (value) => isCurrent && setDetails(value),
        (failure: unknown) => isCurrent && setProblem(messageOf(failure)),
      )
    }
    return () => {
      isCurrent = false
    }
  }, [runId, given !== undefined])
  // A run can only be labelled after it was shown: the next one may still be loading.
  const isSeen = details?.run.id === runId
  const say = (label: 'pass' | 'fail') => {
    if (given !== undefined || !isSeen) return
    if (labeller === '') {
      onNameless()
      return
    }
    const body = { runId, scorer, version, labeller, label, note: note.current?.value ?? '' }
    send('/api/labels', body).then(
      () => {
        setProblem(undefined)
        setGiven({ runId, label })
        // The list of waiting runs may still contain it for a moment.
        setSkipped((before) => new Set([...before, runId]))
        onLabel()
      },
      (failure: unknown) => setProblem(messageOf(failure)),
    )
  }
  const goOn = () => {
    setGiven(undefined)
    onNext()
    if (note.current !== null) note.current.value = ''
  }
  useKeys({
    p: () => say('pass'),
    f: () => say('fail'),
    n: () => (given === undefined ? note.current?.focus() : goOn()),
    s: () => given === undefined && setSkipped((before) => new Set([...before, runId])),
    Enter: () => given !== undefined && goOn(),
    Escape: () => note.current?.blur(),
  })
  const { labelled, drawn } = state.progress
  const evaluation = details?.scores.find(
    (each) => each.runId === runId && each.evaluation.scorer.id === scorer,
  )?.evaluation
  return (
    <section class="labelling" aria-label="Run to label">
      <div class="label-bar">
        <p>
          <progress max={drawn} value={labelled} aria-label="Labelled" /> {labelled} of {drawn} labelled
        </p>
        {given === undefined ? (
          <>
            <p>
              Does this run pass, by what <b>{scorer}</b> asks?
            </p>
            {description !== undefined && <p class="asked">{description}</p>}
            <textarea ref={note} rows={2} placeholder="Why (optional)" aria-label="Note" />
            <p class="buttons">
              <button type="button" class="pass" disabled={!isSeen} onClick={() => say('pass')}>
                ✓ Pass <kbd>p</kbd>
              </button>
              <button type="button" class="fail" disabled={!isSeen} onClick={() => say('fail')}>
                ✗ Fail <kbd>f</kbd>
              </button>
              <button type="button" onClick={() => note.current?.focus()}>
                Note <kbd>n</kbd>
              </button>
              <button type="button" onClick={() => setSkipped((before) => new Set([...before, runId]))}>
                Later <kbd>s</kbd>
              </button>
            </p>
          </>
        ) : (
          <div role="status">
            <p>
              You: <b>{given.label === 'pass' ? '✓ pass' : '✗ fail'}</b>. The scorer:
            </p>
            {evaluation === undefined ? <p class="muted">Loading…</p> : <Verdict evaluation={evaluation} />}
            <button type="button" class="primary" onClick={goOn}>
              Next <kbd>Enter</kbd>
            </button>
          </div>
        )}
        {problem !== undefined && <p class="problem">{problem}</p>}
        {given === undefined && (
          <details class="end">
            <summary>End the draw</summary>
            <p>
              Those that nobody has labelled leave the draw, and their verdicts are shown. Labels that were given stay.
            </p>
            <button type="button" onClick={onEnd}>
              Show the other {drawn - labelled}
            </button>
          </details>
        )}
      </div>
      <div>
        {details === undefined ? (
          <p class="muted">Loading…</p>
        ) : (
          <Conversation run={details.run} spans={details.spans} scores={[]} />
        )}
      </div>
    </section>
  )
}
