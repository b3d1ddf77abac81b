import type { Evaluation } from '../api.ts'
import { duration, percent, plural, score as formatScore, usd } from '../format.ts'
import { anchorOf, findingsOf, wordsOf } from './findings.ts'
import type { Finding } from './findings.ts'
import { unitsOf } from './scorer-choice.tsx'
import { VerdictMark } from './score-mark.tsx'

/** Reasons why a scorer was never called for a run, which are not shown. */
const NOT_ASKED = new Set(['filtered', 'sampled-out', 'thinned'])

/** The result of each scorer for a run, with its reason. Failing ones come first. */
export function Verdicts({ evaluations }: { readonly evaluations: readonly Evaluation[] }) {
  const asked = evaluations.filter(isAsked).toSorted((left, right) => rank(left) - rank(right))
  const others = evaluations.filter((evaluation) => !isAsked(evaluation))
  return (
    <>
      <ul class="verdicts">
        {asked.map((evaluation) => (
          <li key={evaluation.scorer.id}>
            <Verdict evaluation={evaluation} />
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <p class="muted not-asked">
          Not asked:{' '}
          {others
            .map(({ scorer, score }) => `${scorer.id} (${score.status === 'skipped' ? score.reason : ''})`)
            .join(', ')}
        </p>
      )}
    </>
  )
}

/** What an explanation says before it lists the findings. Abbreviations are rare in it, and numbers have no blank after their point. */
function beginOf(explanation: string, findings: readonly Finding[]): string {
  const sentence = /^[^]*?[.!?](?=\s|$)/.exec(explanation)?.[0] ?? explanation
  // Turns and calls are listed in the first sentence.
  const isListed = findings.some(({ about }) => about === 'message' || about === 'scored call')
  const end = isListed ? sentence.indexOf(': ') : -1
  return end < 0 ? sentence : `${sentence.slice(0, end)}.`
}

function isAsked({ score }: Evaluation): boolean {
  return score.status !== 'skipped' || !NOT_ASKED.has(score.reason)
}

function rank({ score }: Evaluation): number {
  if (score.status === 'scored') return score.label === 'fail' ? 0 : 2
  return score.status === 'failed' ? 1 : 3
}

const SIGNS = { good: '✓', bad: '✗', open: '?' } as const

/** One scorer's result with all of its findings. */
export function Verdict({ evaluation }: { readonly evaluation: Evaluation }) {
  const { score, scorer, judge, probability } = evaluation
  const units = unitsOf(scorer.level)
  const findings = findingsOf(evaluation)
  const explanation =
    score.status === 'scored' ? (score.explanation ?? summaryOf(evaluation) ?? 'No explanation.') : score.message
  // The explanation lists the findings after its first sentence, and they are shown one by one.
  const shown = findings.length > 0 ? beginOf(explanation, findings) : explanation
  const isQuiet = score.status === 'skipped' || (score.status === 'scored' && score.label === 'pass')
  return (
    <details class="verdict" open={!isQuiet}>
      <summary>
        <VerdictMark scorer={scorer} score={score} /> <b>{scorer.id}</b>
        <span class="muted">
          {units === 'calls' && ' (calls)'} {scorer.kind}
          {evaluation.source === 'span' && ' made by the application'}
        </span>
      </summary>
      <p class="text">{shown}</p>
      {findings.length > 0 && (
        <ul class="findings">
          {findings.map((finding, index) => (
            <li key={index} class={finding.rating}>
              <span aria-hidden="true">{SIGNS[finding.rating]}</span>
              <span>
                <Place id={anchorOf(finding, evaluation.runId)} text={finding.text} />
                <em> {wordsOf(finding)}</em>
                {finding.reason && (
                  <span class="muted">
                    {' '}
                    <bdi>{finding.reason}</bdi>
                  </span>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
      {shown !== explanation && (
        <details class="whole">
          <summary>The whole explanation</summary>
          <p class="text">{explanation}</p>
        </details>
      )}
      <dl class="small-facts">
        {score.status === 'scored' && scorer.range !== undefined && (
          <>
            <dt>Scale</dt>
            <dd>
              {formatScore(scorer.range[0])} to {formatScore(scorer.range[1])}, {scorer.better} is better
              {scorer.passAt !== undefined &&
                isByMark(scorer, score, findings) &&
                `; passes at ${scorer.better === 'higher' ? '≥' : '≤'} ${formatScore(scorer.passAt)}`}
            </dd>
          </>
        )}
        {scorer.version !== undefined && (
          <>
            <dt>Version</dt>
            <dd>
              <code>{scorer.version.slice(0, 8)}</code>
              {evaluation.durationMs !== undefined && `, ${duration(evaluation.durationMs)}`}
              {judge !== undefined && `, ${judge.model}`}
              {judge?.calls !== undefined && `, ${plural(judge.calls, 'call')}`}
              {judge?.costUsd !== undefined && `, ${usd(judge.costUsd)}`}
            </dd>
          </>
        )}
        {probability !== undefined && probability < 1 && (
          <>
            <dt>Sampled</dt>
            <dd>
              with a probability of {percent(probability)}, so it counts as {(1 / probability).toFixed(1)}{' '}
              {units === 'conversations' ? units : 'runs'} in means
            </dd>
          </>
        )}
      </dl>
    </details>
  )
}

/** What a finding is about, which leads to where it is. */
function Place({ id, text }: { readonly id: string | undefined; readonly text: string }) {
  if (id === undefined) return <bdi>{text}</bdi>
  const jump = (): void => {
    const place = document.getElementById(id)
    for (let outer = place; outer !== null; outer = outer.parentElement)
      if (outer.matches('details')) outer.setAttribute('open', '')
    place?.querySelector('details')?.setAttribute('open', '')
    place?.setAttribute('tabindex', '-1')
    place?.focus({ preventScroll: true })
    place?.scrollIntoView({ block: 'center' })
  }
  return (
    <button type="button" class="as-link" title="Show it in the run" onClick={jump}>
      <bdi>{text}</bdi>
    </button>
  )
}

/** How many calls pass, and the worst one: files do not hold the explanation of a run by its calls. */
function summaryOf({ scorer, calls = [] }: Evaluation): string | undefined {
  const scored = calls.flatMap(({ index, name, score }) =>
    score.status === 'scored' && score.value !== undefined
      ? [{ index, name, value: score.value, label: score.label }]
      : [],
  )
  const sign = scorer.better === 'lower' ? -1 : 1
  const [worst] = scored.toSorted((left, right) => sign * (left.value - right.value))
  if (worst === undefined) return undefined
  const passing = scored.filter(({ label }) => label === 'pass').length
  const { index, name = `call ${index + 1}`, value } = worst
  return `${passing} of ${plural(scored.length, 'call')} pass. The worst is ${name} with ${formatScore(value)}.`
}

/** Whether the pass mark gives the label. Judges that find single things, such as goals or claims, decide by their verdicts instead. */
function isByMark(
  { kind, better, passAt }: Evaluation['scorer'],
  score: Evaluation['score'],
  findings: readonly Finding[],
): boolean {
  if (kind === 'judge' && findings.length > 0) return false
  if (score.status !== 'scored' || score.value === undefined || passAt === undefined) return false
  const reaches = better === 'higher' ? score.value >= passAt : score.value <= passAt
  return reaches === (score.label === 'pass')
}
