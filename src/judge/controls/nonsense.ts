import { textsOf } from '../prompt/section.ts'
import type { Fragment, SectionDraft } from '../prompt/section.ts'
import { shuffled } from '../randomness.ts'
import type { Randomness } from '../randomness.ts'
import { Quotations } from './quotations.ts'
import {
  isCapital,
  isFixed,
  isNumber,
  kindOfWord,
  LONGEST_SHORT_WORD,
  piecesInSteps,
  toPieces,
  WORDS_OF_A_STEP,
  wordsInSteps,
} from './words.ts'
import type { Kind, Piece, WordSteps } from './words.ts'

/** Words kept for each kind and length. The limit is low because all of them are compared for every replaced word. */
const MOST_WORDS_OF_A_LENGTH = 30
/** A replacement is at most this much longer or shorter, and is drawn from this many candidates of similar length. */
const MOST_DISTANCE = 12
const MOST_ALIKE = 3
/** A shorter text might still make sense when reordered, so it only gets words from elsewhere. */
const LEAST_OWN_WORDS = 5

/** A section gets the best of this many drafts, with at most this many words in all of them: more would take a long turn. */
const MOST_DRAFTS = 16
const MOST_DRAFTED_WORDS = 1500
const LONGEST_USUAL_WORD = 20

/** Words, grouped by kind and length. */
type Words = ReadonlyMap<string, readonly string[]>

/**
 * Makes nonsense of the same form as a text: it replaces every word by another word of the run. A word that also occurs elsewhere in the
 * prompt is replaced by another such word, any other word by one that does not, always of the same kind; words without a replacement change
 * places. Words that also follow each other elsewhere are replaced by others that do. Equal words get equal replacements, also in several
 * texts, so that these have as much in common as the originals. Numbers and punctuation keep their places. So the length, the form, the order
 * of kinds of words and the share of words that occur elsewhere match the original, and only the meaning is lost.
 */
export class Nonsense {
  readonly #elsewhere: ReadonlySet<string>
  /** How a word is written inside a sentence, by its lower-case form. A word that is missing here is written in lower case. */
  readonly #names: ReadonlyMap<string, string>
  readonly #shared: Words
  readonly #others: Words
  readonly #own: Words
  readonly #words: Readonly<Record<'own' | 'said', readonly Piece[]>>
  /** They are searched for when they are first needed: by then, a long prompt is in another turn of the event loop. */
  #quotations: Quotations | undefined
  readonly #randomness: Pick<Randomness, 'integer'>;

  /**
   * Reads the words of a prompt, in steps.
   *
   * @param ownTexts the texts to make nonsense of, and similar ones
   * @param others the other sections of the prompt; words are drawn from the run's text in them, not from our labels
   */
  static *create(
    ownTexts: readonly string[],
    others: readonly SectionDraft[],
    randomness: Pick<Randomness, 'integer'>,
  ): WordSteps<Nonsense> {
    const own = yield* wordsInSteps(ownTexts)
    const said = yield* wordsInSteps(saidIn(others))
    const elsewhere = yield* wordsInSteps(textsOf(others))
    const nonsense = new Nonsense({ own, said, elsewhere }, randomness)
    if (own.length + said.length > WORDS_OF_A_STEP) yield
    return nonsense
  }

  private constructor(
    { own, said, elsewhere }: Readonly<Record<'own' | 'said' | 'elsewhere', readonly Piece[]>>,
    randomness: Pick<Randomness, 'integer'>,
  ) {
    const named = [...said, ...own].filter(({ isInitial, text }) => !isInitial && /\p{Lu}/u.test(text))
    this.#names = new Map(named.map(({ text }) => [text.toLowerCase(), text]))
    this.#elsewhere = new Set(elsewhere.map(({ text }) => text.toLowerCase()))
    this.#randomness = randomness
    const isElsewhere = ({ text }: Piece): boolean => this.#elsewhere.has(text.toLowerCase())
    this.#own = this.#byLength(own.filter((word) => !isElsewhere(word)))
    this.#shared = this.#byLength(own.filter(isElsewhere))
    this.#others = this.#byLength(said)
    this.#words = { own, said }
  }

  /** Returns nonsense of the same form as the text. */
  *of(text: string): WordSteps<string> {
    const [nonsense = ''] = yield* this.ofAll([text])
    return nonsense
  }

  /** Returns nonsense of the same form as the texts, with as many words in common as the originals have. */
  *ofAll(texts: readonly string[]): WordSteps<string[]> {
    const inPieces: (readonly Piece[])[] = []
    for (const text of texts) inPieces.push(yield* piecesInSteps(text))
    const isShort = inPieces.every((pieces) => pieces.filter(({ isWord }) => isWord).length < LEAST_OWN_WORDS)
    const drawn = new Map<string, string>()
    const used = new Set<string>()
    const replace = (text: string): string => {
      const word = this.#canonical(text)
      const key = word.toLowerCase()
      const known = drawn.get(key)
      if (known !== undefined) return known
      const other = this.#replace(word, isShort, used)
      drawn.set(key, other)
      used.add(other.toLowerCase())
      return other
    }
    const inWords = inPieces.map((pieces) => pieces.filter(({ isWord }) => isWord).map(({ text }) => text))
    const known = new Map<string, readonly string[]>()
    const quoted: (readonly (string | undefined)[])[] = []
    if (!isShort) {
      const quotations = yield* this.#quoted()
      for (const original of inWords) {
        const words = original.map((word) => this.#canonical(word))
        quoted.push(yield* quotations.replace(words, known, used))
      }
    }
    let replaced = 0
    for (const [index, original] of inWords.entries()) {
      for (const [at, word] of original.entries()) {
        if (quoted[index]?.[at] === undefined) replace(word)
        if (++replaced % WORDS_OF_A_STEP === 0) yield
      }
    }
    if (!isShort) this.#rotate(drawn)
    return inPieces.map((pieces, index) => {
      const original = inWords[index] ?? []
      const words = original.map((word, at) => quoted[index]?.[at] ?? replace(word))
      let next = 0
      return pieces
        .map(({ isWord, text, isInitial }) => {
          if (!isWord) return text
          const word = words[next++] ?? ''
          return isInitial && isCapital(text) ? word.charAt(0).toUpperCase() + word.slice(1) : word
        })
        .join('')
    })
  }

  *#quoted(): WordSteps<Quotations> {
    if (this.#quotations !== undefined) return this.#quotations
    const { own, said } = this.#words
    const written = (pieces: readonly Piece[]): readonly string[] => pieces.map(({ text }) => this.#canonical(text))
    this.#quotations = new Quotations(written(own), written(said), this.#randomness)
    if (own.length + said.length > WORDS_OF_A_STEP) yield
    return this.#quotations
  }

  /** Exchanges words that have no replacement: those of one kind if there are several, or else of any kind. */
  #rotate(drawn: Map<string, string>): void {
    const keptWords = (): string[] =>
      shuffled(
        [...drawn].flatMap(([key, word]) => (word.toLowerCase() === key && !isFixed(word) ? [word] : [])),
        this.#randomness,
      )
    const rotate = (alike: readonly string[]): void => {
      for (const [index, word] of alike.entries()) {
        drawn.set(word.toLowerCase(), alike[(index + 1) % alike.length] ?? word)
      }
    }
    const kindOfKept = (word: string): string => `${kindOfWord(word)} ${this.#elsewhere.has(word.toLowerCase())}`
    for (const alike of Map.groupBy(keptWords(), kindOfKept).values()) rotate(alike)
    rotate(keptWords())
  }

  /**
   * Returns the section with all text that may be cut turned into nonsense. Our labels are never cut, and stay. A judge sees it beside the
   * real section, so the best of several drafts is taken.
   */
  *ofSection(section: SectionDraft): WordSteps<SectionDraft> {
    const fragments: Fragment[] = []
    for (const fragment of section.fragments) {
      const isOurs = fragment.cut === undefined
      fragments.push(isOurs ? fragment : { ...fragment, text: yield* this.#bestDraft(fragment.text) })
    }
    return { ...section, fragments }
  }

  /** The one of several drafts of nonsense in which long and short words are ordered most like those of the text. */
  *#bestDraft(text: string): WordSteps<string> {
    let best = yield* this.of(text)
    // A text with more characters than this has too many words for a second draft, and they need not be counted.
    if (text.length > (MOST_DRAFTED_WORDS / 2) * LONGEST_USUAL_WORD) return best
    const lengths = lengthsOf(text)
    const drafts = Math.min(MOST_DRAFTS, Math.floor(MOST_DRAFTED_WORDS / Math.max(1, lengths.length)))
    let least = drafts > 1 ? unlikeness(lengths, lengthsOf(best)) : 0
    let drafted = 0
    for (let more = 1; more < drafts && least > 0; more++) {
      const other = yield* this.of(text)
      const own = unlikeness(lengths, lengthsOf(other))
      if (own < least) [best, least] = [other, own]
      drafted += lengths.length
      if (drafted < WORDS_OF_A_STEP) continue
      drafted = 0
      yield
    }
    return best
  }

  /** @param used replacements that this text has so far; the nonsense must have as many different words as the original */
  #replace(word: string, isFromElsewhere: boolean, used: ReadonlySet<string>): string {
    const isElsewhere = this.#elsewhere.has(word.toLowerCase())
    const kind = kindOfWord(word)
    if (isFixed(word) && kind !== 'number') return word
    if (kind === 'number' && !isElsewhere) return this.#otherNumber(word)
    const pool = isFromElsewhere ? this.#others : isElsewhere ? this.#shared : this.#own
    const drawn = this.#drawAlike(pool, kind, word, used)
    if (drawn !== undefined) return drawn
    // A short text that keeps its words may keep its meaning.
    const keepsSense = isFromElsewhere && (kind === 'long' || kind === 'name')
    return keepsSense ? inventWord(this.#randomness) : word
  }

  /** A word of the pool of the same kind and of the most similar length. */
  #drawAlike(pool: Words, kind: Kind, word: string, used: ReadonlySet<string>): string | undefined {
    const lower = word.toLowerCase()
    const alike: string[] = []
    for (let distance = 0; distance <= MOST_DISTANCE && alike.length < MOST_ALIKE; distance++) {
      const lengths = distance === 0 ? [word.length] : [word.length - distance, word.length + distance]
      const fit = lengths.flatMap((length) => pool.get(keyOf(kind, length)) ?? [])
      alike.push(...fit.filter((other) => other.toLowerCase() !== lower && !used.has(other.toLowerCase())))
    }
    return alike[this.#randomness.integer(Math.max(1, Math.min(MOST_ALIKE, alike.length)))]
  }

  /** Another number with as many digits that does not occur elsewhere, if a few tries find one. */
  #otherNumber(number: string): string {
    for (let attempt = 0; attempt < 5; attempt++) {
      const other = number.replaceAll(/\d/g, () => String(1 + this.#randomness.integer(9)))
      if (other !== number && !this.#elsewhere.has(other)) return other
    }
    return number
  }

  /** The word as it is written inside a sentence. */
  #canonical(word: string): string {
    const lower = word.toLowerCase()
    return this.#names.get(lower) ?? lower
  }

  #byLength(words: readonly Piece[]): Words {
    const byLength = new Map<string, string[]>()
    for (const { text } of shuffled(words, this.#randomness)) {
      const word = this.#canonical(text)
      if (isFixed(word) && !isNumber(word)) continue
      const key = keyOf(kindOfWord(word), word.length)
      const alike = byLength.get(key)
      if (alike === undefined) byLength.set(key, [word])
      else if (alike.length < MOST_WORDS_OF_A_LENGTH) alike.push(word)
    }
    return byLength
  }
}

function lengthsOf(text: string): readonly number[] {
  return toPieces(text).flatMap((piece) => (piece.isWord ? [piece.text.length] : []))
}

/** How much texts differ in the lengths of their first and last words, and in how often two short or two long words follow each other. */
function unlikeness(one: readonly number[], other: readonly number[]): number {
  const ends = apart(one[0], other[0]) + apart(one.at(-1), other.at(-1))
  return ends + apart(pairsOf(one, true), pairsOf(other, true)) + apart(pairsOf(one, false), pairsOf(other, false))
}

function apart(one = 0, other = 0): number {
  return Math.abs(one - other)
}

/** How often two short or two long words follow each other. */
function pairsOf(lengths: readonly number[], areShort: boolean): number {
  const isOne = (length: number): boolean => length <= LONGEST_SHORT_WORD === areShort
  return lengths.filter((length, at) => at > 0 && isOne(length) && isOne(lengths[at - 1] ?? 0)).length
}

/** The run's own text in these sections, without our labels. */
function saidIn(sections: readonly SectionDraft[]): string[] {
  return sections.flatMap(({ fragments }) => fragments.flatMap(({ text, cut }) => (cut === undefined ? [] : [text])))
}

function keyOf(kind: Kind, length: number): string {
  return `${kind} ${length}`
}

/** Invents a word of two or three syllables. */
function inventWord({ integer }: Pick<Randomness, 'integer'>): string {
  const pick = (letters: string): string => letters.charAt(integer(letters.length))
  const syllables = Array.from({ length: 2 + integer(2) }, () => pick('bdfghklmnprstvwz') + pick('aeiou'))
  return syllables.join('') + pick('nrstlm')
}
