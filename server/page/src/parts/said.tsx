import type { RunDetails } from '../api.ts'
import { score as formatScore } from '../format.ts'

/** What users and other tools say of a run. It counts in no mean. */
export function SaidOfRun({ said }: { readonly said: RunDetails['said'] }) {
  if (said.length === 0) return null
  return (
    <section class="said" aria-label="What others say">
      <h2>What others say</h2>
      <SaidList said={said} />
    </section>
  )
}

/** What they say, each with who says it. */
export function SaidList({ said }: { readonly said: RunDetails['said'] }) {
  return (
    <ul class="verdicts">
      {said.map(({ scorerId, value, label, explanation, evaluatorType }, index) => (
        <li key={index} class="verdict">
          <b>
            <bdi>{scorerId}</bdi>
          </b>{' '}
          {thumbOf(evaluatorType, label) ?? (
            <>
              {value === undefined ? '' : formatScore(value)} {label !== undefined && <bdi>{label}</bdi>}
            </>
          )}
          <span class="muted"> {WHO[evaluatorType ?? ''] ?? 'another tool'}</span>
          {explanation !== undefined && <p class="text">{explanation}</p>}
        </li>
      ))}
    </ul>
  )
}

/** A thumb is no number. */
function thumbOf(evaluatorType: string | undefined, label: string | undefined) {
  if (evaluatorType !== 'user' || (label !== 'fail' && label !== 'pass')) return undefined
  return (
    <span role="img" aria-label={label === 'fail' ? 'dislikes it' : 'likes it'}>
      {label === 'fail' ? '👎' : '👍'}
    </span>
  )
}

const WHO: Readonly<Record<string, string>> = { user: 'a user', human: 'a person', llm_judge: "another tool's judge" }
