import { useState } from 'preact/hooks'

import { markFindings, wordsOf } from './findings.ts'
import type { Finding } from './findings.ts'
import { isMarkdown, Markdown } from './markdown.tsx'

interface TextProps {
  readonly text: string
  readonly findings?: readonly Finding[]
  /** Whether a model wrote it for people, maybe as Markdown. */
  readonly isWritten?: boolean
}

/** A text with evidence marked in it, as it is; or as what its Markdown means. It never becomes markup. */
export function Text({ text, findings = [], isWritten = false }: TextProps) {
  const parts = markFindings(text, findings)
  const [isRaw, setRaw] = useState<boolean>()
  const hasForms = isWritten && isMarkdown(text)
  // Marks are in the text as it is.
  const isShownRaw = !hasForms || (isRaw ?? parts.length > 1)
  return (
    <>
      {isShownRaw ? (
        <p class="text">
          {parts.map(({ text: part, finding }, index) => {
            if (finding === undefined) return part
            const marked = part.trimEnd()
            return (
              <>
                <mark
                  key={index}
                  class={`evidence ${finding.rating}`}
                  title={`${wordsOf(finding)} ${finding.reason ?? ''}`.trim()}
                >
                  {marked}
                  <span class="why">
                    {' '}
                    {finding.rating === 'bad' ? '✗' : '?'} {finding.reason || wordsOf(finding)}
                  </span>
                </mark>
                {part.slice(marked.length)}
              </>
            )
          })}
        </p>
      ) : (
        <Markdown text={text} />
      )}
      {hasForms && (
        <button type="button" class="as-link raw" onClick={() => setRaw(!isShownRaw)}>
          {isShownRaw ? 'Formatted' : 'Raw text'}
        </button>
      )}
    </>
  )
}
