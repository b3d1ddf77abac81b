import type { Finding } from '../../../../src/model/finding.ts'
import type { ShownEvaluation as Evaluation } from '../../../src/page/shown-evaluation.ts'

export type { Finding }

/** What a scorer found in the run, with the scores of its calls. If all is well, only what a scorer rates is shown. */
export function findingsOf({ score, scorer, calls = [] }: Evaluation): readonly Finding[] {
  if (score.status !== 'scored') return []
  const found = [...calls.flatMap(toFindings), ...(score.findings ?? [])]
  const isAllGood = score.value === (scorer.better === 'higher' ? scorer.range?.[1] : scorer.range?.[0])
  return isAllGood ? found.filter(({ rating }) => rating !== 'open') : found
}

/** The score of one call, which is shown at the call, too, and what was found there. */
function toFindings({ index, name = `call ${index + 1}`, score }: NonNullable<Evaluation['calls']>[number]): Finding[] {
  if (score.status !== 'scored') return []
  const { value, label, explanation = '', findings = [] } = score
  const verdict = value === undefined ? (label ?? '') : String(Number(value.toFixed(3)))
  return [
    { about: 'scored call', verdict, rating: label === 'pass' ? 'good' : 'bad', text: name, reason: explanation },
    ...findings,
  ]
}

/** Verdicts that say little without what they are about. */
const WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  goal: {
    done: 'reached',
    declined: 'rightly declined',
    withdrawn: 'withdrawn by the user',
    open: 'still open',
    partly: 'partly reached',
    not: 'not reached',
    wrong: 'done wrongly',
  },
  document: { not: 'not relevant', partly: 'partly relevant' },
  'claimed action': { not_stated: 'claimed, but no call did it', supported: 'done by a call' },
}

/** The verdict in words: `asked again` for `asked_again`, `not reached` for a goal that is `not`. */
export function wordsOf({ about, verdict }: Finding): string {
  return WORDS[about]?.[verdict] ?? verdict.replaceAll('_', ' ')
}

/**
 * The findings about one tool call, its arguments or its result, that say that something is wrong or open; and those about a text in its result
 * that tried to command the agent, also if it was resisted.
 */
export function findingsOfCall(findings: readonly Finding[], index: number): readonly Finding[] {
  return findings.filter(
    ({ about, rating, places = [] }) =>
      (rating !== 'good' || about === 'content') &&
      places.some((place) => OF_CALL.has(place.in) && place.index === index && place.runId === undefined),
  )
}

const OF_CALL: ReadonlySet<string> = new Set(['call', 'arguments', 'result'])

/** The id of the element that shows where a finding is; `undefined` if none does, or there is nothing to look at. */
export function anchorOf({ about, rating, places = [] }: Finding, runId: string): string | undefined {
  const [place] = places
  if (place === undefined || (rating === 'good' && about !== 'content')) return undefined
  const of = place.runId ?? runId
  return place.in === 'answer' ? `${of}/answer` : OF_CALL.has(place.in) ? `${of}/call-${place.index}` : undefined
}

/** What a finding says of a call: a text in the call's result is quoted. */
export function noteOf(finding: Finding, index: number): string {
  const isText = finding.about === 'content' && quotesOf([finding], index).length > 0
  const said = isText ? `“${finding.text}”` : finding.reason
  return said === undefined || said === '' ? wordsOf(finding) : `${wordsOf(finding)}: ${said}`
}

/** The texts in the result of a call that tried to command the agent. */
export function quotesOf(findings: readonly Finding[], index: number): readonly string[] {
  return findings.flatMap(({ about, text, places = [] }) =>
    about === 'content'
      ? places.flatMap((place) => (place.in === 'result' && place.index === index ? [place.quote ?? text] : []))
      : [],
  )
}

/** A part of a text, with `finding` if it is what the finding is about. */
export interface TextPart {
  readonly text: string
  readonly finding?: Finding
}

/** Splits the answer so that each sentence that a finding is about is a part. Judges paraphrase, so a sentence is found by its words. */
export function markFindings(text: string, findings: readonly Finding[]): readonly TextPart[] {
  const wanted = findings.filter(
    ({ rating, places = [] }) => rating !== 'good' && placeIn(places, 'answer') !== undefined,
  )
  if (wanted.length === 0 || text.length > 50_000) return [{ text }]
  const sentences = text.match(/\n+|.+?(?:[.!?]+(?=\s|$)\s*|(?=\n)|$)/g) ?? [text]
  const bySentence = new Map<number, Finding>()
  for (const finding of wanted) {
    const words = wordsIn(placeIn(finding.places, 'answer')?.quote ?? finding.text)
    if (words.size === 0) continue
    const shares = sentences.map((sentence) => share(words, wordsIn(sentence)))
    const best = shares.indexOf(Math.max(...shares))
    if ((shares[best] ?? 0) >= 0.5 && !bySentence.has(best)) bySentence.set(best, finding)
  }
  return sentences.map((sentence, index) => {
    const finding = bySentence.get(index)
    return finding === undefined ? { text: sentence } : { text: sentence, finding }
  })
}

const placeIn = (places: Finding['places'], where: string) => places?.find((place) => place.in === where)

function wordsIn(text: string): ReadonlySet<string> {
  return new Set((text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => word.length > 2))
}

function share(wanted: ReadonlySet<string>, found: ReadonlySet<string>): number {
  let hits = 0
  for (const word of wanted) if (found.has(word)) hits += 1
  return hits / wanted.size
}
