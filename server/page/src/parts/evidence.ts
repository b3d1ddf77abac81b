import type { ShownEvaluation } from '../../../src/page/shown-evaluation.ts'

type CallScore = NonNullable<ShownEvaluation['calls']>[number]

/** One thing that a scorer found. */
export interface Finding {
  readonly text: string
  /** `undefined` if the scorer does not rate it. */
  readonly isGood: boolean | undefined
  readonly why: string
  /** The scorer's name of the verdict, such as `unsupported`. */
  readonly verdict: string
  /** What kind of thing was judged: `claims`, `requirements`, `calls`. */
  readonly kind: string
  /** The tool call that it is about, by its index in the run. */
  readonly toolCall?: number
  /** The tool that it is about, by its name. */
  readonly tool?: string
  /** The turn of a conversation that it is about, as the scorer counts them, from 0. */
  readonly turn?: number
  /** The path in the arguments: `city`, `stops[2].name`. */
  readonly path?: string
}

const TEXTS = [
  'text',
  'requirement',
  'claim',
  'criterion',
  'question',
  'toolCalled',
  'name',
  'limit',
  'check',
  'keyword',
  'goal',
  'fact',
]
const REASONS = ['reasoning', 'reason', 'error', 'message', 'why']
const GOOD_WORDS = new Set([
  'yes',
  'supported',
  'appropriate',
  'pass',
  'passed',
  'relevant',
  'met',
  'covered',
  'fulfilled',
  'consistent',
  'complete',
  'recalled',
  'addressed',
  'reached',
  'kept',
  'moves_on',
])
const OPEN_WORDS = new Set(['unsure', 'helpful', 'partly', 'partial', 'withdrawn', 'not_needed'])
/** Flags that are true if all is well, and the verdict if they are false. */
const GOOD_FLAGS: Readonly<Record<string, string>> = {
  isFulfilled: 'not fulfilled',
  wasAppropriate: 'not appropriate',
  passed: 'not passed',
  holds: 'does not hold',
  met: 'not met',
  ok: 'not met',
  isMet: 'not met',
}

/** Lists of texts that name missing or wrong things. */
const BAD_LISTS = new Set(['missing', 'missingElements', 'missingTools', 'hallucinated', 'unexpected'])

/** What a scorer found in a run, read from the details of its result. Custom scorers may put anything there. */
export function findingsOf({ score, scorer, calls = [] }: ShownEvaluation): readonly Finding[] {
  if (score.status !== 'scored') return []
  const found: Finding[] = calls.flatMap(findingOf)
  // For a hallucination scorer, supported claims are good, although lower scores are better.
  walk(score.details, '', found, 0)
  if (scorer.level === 'conversation' && score.details === undefined)
    found.push(...reactionsIn(score.explanation ?? ''))
  const isAllGood = score.value === (scorer.better === 'higher' ? scorer.range?.[1] : scorer.range?.[0])
  return isAllGood ? found.filter(({ isGood }) => isGood !== undefined) : found
}

/** The score of one call, which is shown at the call, too. */
function findingOf({ index, name = `call ${index + 1}`, score }: CallScore): readonly Finding[] {
  if (score.status !== 'scored') return []
  const { value, label, explanation = '' } = score
  const verdict = String(Number(value.toFixed(3)))
  return [{ text: name, isGood: label === 'pass', why: explanation, verdict, kind: SCORED_CALL }]
}

/** The kind of the score of a call. */
export const SCORED_CALL = 'scored call'

/** The kind of what is said of a turn. */
export const TURNS = 'turns'

/** How `user_friction` and `repeated_question` name the messages that they count. */
const NAMES_TURNS = /^(?:Friction in \d+ of \d+ messages|\d+ of \d+ messages repeat an earlier one): /
const NAMED_TURN = /(?:^|; )turn (\d+)(?: ([a-z_]+))?(?: \(([^]*?)\))?(?=; turn \d|\.(?: |$)|$)/g

/** The messages that an explanation names: files have no details. */
function reactionsIn(explanation: string): readonly Finding[] {
  const names = NAMES_TURNS.exec(explanation)?.[0]
  if (names === undefined) return []
  return [...explanation.slice(names.length).matchAll(NAMED_TURN)].map(([, turn, verdict = 'repeats', why = '']) =>
    ofTurn(Number(turn) - 1, verdict, why),
  )
}

function ofTurn(turn: number, verdict: string, why: string): Finding {
  return {
    text: `Turn ${turn + 1}`,
    isGood: GOOD_WORDS.has(verdict),
    why,
    verdict: worded(verdict),
    kind: TURNS,
    turn,
  }
}

/** `asked_again` in words. */
function worded(verdict: string): string {
  return verdict.replaceAll('_', ' ')
}

function walk(value: unknown, key: string, found: Finding[], depth: number): void {
  if (depth > 5 || found.length > 200) return
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === 'string') {
        if (BAD_LISTS.has(key))
          found.push({ text: item, isGood: false, why: '', verdict: 'missing', kind: key, ...toolOf(key, item) })
      } else if (typeof item === 'number') {
        if (key === TURNS) found.push(ofTurn(item, 'repeats', ''))
      } else if (isRecord(item)) walkItem(item, key, found, depth)
    }
    return
  }
  if (!isRecord(value)) return
  for (const [name, child] of Object.entries(value)) walk(child, name, found, depth + 1)
}

function toolOf(key: string, name: string): { readonly tool?: string } {
  return key === 'hallucinated' ? { tool: name } : {}
}

function walkItem(item: Record<string, unknown>, kind: string, found: Finding[], depth: number): void {
  const text = firstText(item, TEXTS)
  const { turn } = item
  if (text === undefined && typeof turn === 'number' && typeof item['verdict'] === 'string') {
    found.push(ofTurn(turn, item['verdict'], firstText(item, REASONS) ?? ''))
    return
  }
  if (text === undefined) {
    walk(item, kind, found, depth + 1)
    return
  }
  const errors = item['errors']
  const tool = typeof item['toolCalled'] === 'string' || kind === 'calls' || kind === 'failed' ? { tool: text } : {}
  const place = typeof item['index'] === 'number' ? { toolCall: item['index'] } : {}
  if (Array.isArray(errors)) {
    if (errors.length === 0) found.push({ text, isGood: true, why: '', verdict: 'valid', kind, ...tool, ...place })
    for (const error of errors.filter(isRecord)) {
      const path = typeof error['path'] === 'string' ? error['path'] : ''
      const why = firstText(error, REASONS) ?? ''
      found.push({ text, isGood: false, why, verdict: path === '' ? 'invalid' : path, kind, path, ...tool, ...place })
    }
    return
  }
  const verdict = typeof item['verdict'] === 'string' ? item['verdict'] : kind === 'failed' ? 'failed' : ''
  const flag = Object.keys(GOOD_FLAGS).find((name) => typeof item[name] === 'boolean')
  const flagged = flag !== undefined && item[flag] === false ? GOOD_FLAGS[flag] : undefined
  found.push({
    text,
    isGood: flag === undefined ? goodness(item, verdict, kind) : item[flag] === true,
    why: firstText(item, REASONS) ?? '',
    verdict: verdict === '' ? (flagged ?? '') : worded(verdict),
    kind,
    ...tool,
    ...place,
  })
}

function goodness(item: Record<string, unknown>, verdict: string, kind: string): boolean | undefined {
  if (kind === 'failed') return item['recovered'] === true ? undefined : false
  if (verdict === '' || OPEN_WORDS.has(verdict)) return undefined
  return GOOD_WORDS.has(verdict)
}

function firstText(item: Record<string, unknown>, names: readonly string[]): string | undefined {
  return names.map((name) => item[name]).find((value): value is string => typeof value === 'string' && value !== '')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A part of a text, with `finding` if it is evidence. */
export interface TextPart {
  readonly text: string
  readonly finding?: Finding
}

/** Splits a text so that each sentence that a finding is about is a part. Judges paraphrase, so a sentence is found by its words. */
export function markEvidence(text: string, findings: readonly Finding[]): readonly TextPart[] {
  const wanted = findings.filter(
    ({ isGood, tool, kind }) => isGood !== true && tool === undefined && kind !== SCORED_CALL,
  )
  if (wanted.length === 0 || text.length > 50_000) return [{ text }]
  const sentences = text.match(/\n+|.+?(?:[.!?]+(?=\s|$)\s*|(?=\n)|$)/g) ?? [text]
  const bySentence = new Map<number, Finding>()
  for (const finding of wanted) {
    const words = wordsOf(finding.text)
    if (words.size === 0) continue
    const shares = sentences.map((sentence) => share(words, wordsOf(sentence)))
    const best = shares.indexOf(Math.max(...shares))
    if ((shares[best] ?? 0) >= 0.5 && !bySentence.has(best)) bySentence.set(best, finding)
  }
  return sentences.map((sentence, index) => {
    const finding = bySentence.get(index)
    return finding === undefined ? { text: sentence } : { text: sentence, finding }
  })
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set((text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => word.length > 2))
}

function share(wanted: ReadonlySet<string>, found: ReadonlySet<string>): number {
  let hits = 0
  for (const word of wanted) if (found.has(word)) hits += 1
  return hits / wanted.size
}
