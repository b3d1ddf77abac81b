import { markFindings, wordsOf } from './findings.ts'
import type { Finding } from './findings.ts'

/** A text with evidence marked in it. It never becomes markup. */
export function Text({ text, findings }: { readonly text: string; readonly findings: readonly Finding[] }) {
  return (
    <p class="text">
      {markFindings(text, findings).map(({ text: part, finding }, index) =>
        finding === undefined ? (
          part
        ) : (
          <mark
            key={index}
            class={`evidence ${finding.rating}`}
            title={`${wordsOf(finding)} ${finding.reason ?? ''}`.trim()}
          >
            {part.trimEnd()}
            <span class="why">
              {' '}
              {finding.rating === 'bad' ? '✗' : '?'} {finding.reason || wordsOf(finding)}
            </span>
          </mark>
        ),
      )}
    </p>
  )
}
