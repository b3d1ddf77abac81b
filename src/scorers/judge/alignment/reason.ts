import { contentFree, joinExplanations } from '../../../model/explanation.ts'
import type { Explanation } from '../../../model/explanation.ts'
import type { AgentRun } from '../../../model/agent-run.ts'
import { phrasesFor } from './phrases.ts'
import type { AlignmentBand, AlignmentPhrases } from './phrases.ts'
import type { AlignmentSide } from './questions.ts'
import { shorten } from '../judge-scorer.ts'

/** Explains score, maximum and findings, in the language of the prompt. */
export function explainAlignment(
  run: AgentRun,
  sides: readonly AlignmentSide[],
  mode: AlignmentSide | 'both',
  { value, scale, band }: { readonly value: number; readonly scale: number; readonly band: AlignmentBand },
  findings: (phrases: AlignmentPhrases) => readonly Explanation[],
): Explanation {
  const phrases = phrasesOf(run)
  const sentences = [
    contentFree(`${phrases.score(value, scale)} - ${phrases.bands[band]}`),
    ...findings(phrases),
    ...(mode === 'both' && sides.length === 1 ? [contentFree(phrases.noSystem)] : []),
  ]
  const ended = sentences.map(({ text, withoutContent }) => ({
    text: withStop(text, phrases),
    withoutContent: withStop(withoutContent, phrases),
  }))
  return shorten(joinExplanations(ended, ''))
}

/** The phrases in the language of the question. */
export function phrasesOf(run: AgentRun): AlignmentPhrases {
  return phrasesFor(run.userInput ?? run.systemInstructions ?? '')
}

/** Ends a sentence, unless the judge already did. */
function withStop(sentence: string, { stop }: AlignmentPhrases): string {
  const text = sentence.trim()
  if (text === '') return ''
  return /[.!?。！？]$/.test(text) ? `${text} ` : `${text}${stop}`
}
