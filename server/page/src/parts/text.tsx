import { markEvidence } from './evidence.ts'
import type { Finding } from './evidence.ts'

/** A text with evidence marked in it. It never becomes markup. */
export function Text({ text, findings }: { readonly text: string; readonly findings: readonly Finding[] }) {
  return (
    <p class="text">
      {markEvidence(text, findings).map(({ text: part, finding }, index) =>
        finding === undefined ? (
          part
        ) : (
          <mark
            key={index}
            class={`evidence ${finding.isGood === false ? 'bad' : 'open'}`}
            title={`${finding.verdict} ${finding.why}`.trim()}
          >
            {part.trimEnd()}
            <span class="why">
              {' '}
              {finding.isGood === false ? '✗' : '?'} {finding.why === '' ? finding.verdict : finding.why}
            </span>
          </mark>
        ),
      )}
    </p>
  )
}
