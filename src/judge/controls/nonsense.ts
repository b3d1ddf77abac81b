import { textsOf } from '../prompt/section.ts'
import type { SectionDraft } from '../prompt/section.ts'
import type { Randomness } from '../randomness.ts'
import { exchangeWords } from './exchange-words.ts'
import { pairOf, sortOf, sortsOf } from './replaceable-words.ts'
import type { PlacedWord, Replacements, Word } from './replaceable-words.ts'
import { isCapital, isFixed, isNumber, kindOfWord, piecesInSteps, WORDS_OF_A_STEP, wordsInSteps } from './words.ts'
import type { Piece, WordSteps } from './words.ts'

/** A shorter text might still make sense when reordered, so it only gets words from elsewhere. */
const LEAST_OWN_WORDS = 5
const CAPITAL = /\p{Lu}/gu
const MARK = /[^\p{L}\p{N}]/gu
/** Words that occur more often are equally frequent. */
const MOST_FREQUENT = 8

/** What is known of the words of a prompt, in lower case. */
interface Known {
  /** How words are written inside a sentence. A word that is missing here is written in lower case. */
  readonly names: ReadonlyMap<string, string>
  readonly elsewhere: ReadonlySet<string>
  readonly own: ReadonlySet<string>
  readonly frequencies: ReadonlyMap<string, number>
  /** All that were read, as they are written. */
  readonly words: Map<string, Word>
}

/**
 * Makes nonsense of the same form as a text: it replaces words by other words of the run. A word that also occurs elsewhere in the prompt is
 * replaced by another such word, any other word by one that does not, of the same kind and similar length where there is one. It quotes as
 * much from elsewhere as the original. Equal words get equal replacements, also in several texts, so that these have as much in common as
 * the originals. Punctuation keeps its place, and short words may. So the length, the form and the share of words that occur elsewhere match
 * the original, and only the meaning is lost. Where both cannot be had, as in some very short texts, the form differs.
 */
export class Nonsense {
  readonly #known: Known
  readonly #replacements: Replacements & { readonly used: Set<string> }
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
    const own = (yield* wordsInSteps(ownTexts)).flat()
    const said = (yield* wordsInSteps(saidIn(others))).flat()
    const elsewhere = (yield* wordsInSteps(textsOf(others))).flat()
    const known: Known = {
      names: namesIn(own, said),
      elsewhere: new Set(elsewhere.map(({ text }) => text.toLowerCase())),
      own: new Set(own.map(({ text }) => text.toLowerCase())),
      frequencies: countsOf([...own, ...said].map(({ text }) => text.toLowerCase())),
      words: new Map<string, Word>(),
    }
    if (own.length + said.length > WORDS_OF_A_STEP) yield
    const toWords = (pieces: readonly Piece[]): readonly Word[] => pieces.map(({ text }) => toWord(text, known))
    const replacements = yield* replacementsOf(toWords(own), toWords(said), toWords(elsewhere))
    return new Nonsense(known, { ...replacements, used: new Set() }, randomness)
  }

  private constructor(
    known: Known,
    replacements: Replacements & { readonly used: Set<string> },
    randomness: Pick<Randomness, 'integer'>,
  ) {
    this.#known = known
    this.#replacements = replacements
    this.#randomness = randomness
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
    const numbers = new Map<string, Word>()
    const inWords = inPieces.map((pieces): readonly PlacedWord[] =>
      pieces.flatMap(({ isWord, text, isInitial }) =>
        isWord
          ? [
              {
                ...this.#readWord(text, isShort, numbers),
                isCapitalised: isInitial && isCapital(text),
                writtenCapitals: countOf(text, CAPITAL),
              },
            ]
          : [],
      ),
    )
    const exchanged = yield* exchangeWords(inWords, this.#replacements, isShort, this.#randomness)
    for (const words of exchanged) {
      for (const [one, other] of pairsIn(words)) this.#replacements.used.add(pairOf(one, other))
    }
    const own = new Set(inWords.flatMap((words) => words.map(({ lower }) => lower)))
    const invented = new Map<string, string>()
    return inPieces.map((pieces, index) => {
      let next = 0
      return pieces
        .map(({ isWord, text }) => {
          if (!isWord) return text
          const original = inWords[index]?.[next]
          const word = exchanged[index]?.[next++]
          if (word === undefined) return text
          const shown = isShort && own.has(word.lower) ? this.#invent(word, invented) : word.text
          return original?.isCapitalised === true ? shown.charAt(0).toUpperCase() + shown.slice(1) : shown
        })
        .join('')
    })
  }

  /** Returns the section with all text that may be cut turned into nonsense. Our labels are never cut, and stay. */
  *ofSection(section: SectionDraft): WordSteps<SectionDraft> {
    const nonsense = yield* this.ofAll(section.fragments.flatMap(({ text, cut }) => (cut === undefined ? [] : [text])))
    let next = 0
    return {
      ...section,
      fragments: section.fragments.map((fragment) =>
        fragment.cut === undefined ? fragment : { ...fragment, text: nonsense[next++] ?? '' },
      ),
    }
  }

  /**
   * A word of a text to exchange. In a short text, numbers that do not occur elsewhere are changed already. A longer one makes no sense with
   * its own numbers in other places, and other numbers would be recognised.
   */
  #readWord(text: string, isShort: boolean, numbers: Map<string, Word>): Word {
    const word = toWord(text, this.#known)
    if (word.kind !== 'number' || word.isElsewhere || !isShort) return word
    const known = numbers.get(text)
    if (known !== undefined) return known
    const other = this.#otherNumber(text)
    const changed: Word = { ...word, text: other, lower: other, isFixed: true }
    numbers.set(text, changed)
    return changed
  }

  /** A short text that keeps its words may keep its meaning. */
  #invent({ text, lower, kind }: Word, invented: Map<string, string>): string {
    if (kind !== 'long' && kind !== 'name') return text
    const word = invented.get(lower) ?? inventWord(this.#randomness)
    invented.set(lower, word)
    return word
  }

  /** Another number with as many digits that does not occur elsewhere, if a few tries find one. */
  #otherNumber(number: string): string {
    for (let attempt = 0; attempt < 5; attempt++) {
      const other = number.replaceAll(/\d/g, () => String(1 + this.#randomness.integer(9)))
      if (other !== number && !this.#known.elsewhere.has(other)) return other
    }
    return number
  }
}

/** Words that are written with a capital inside sentences. What the texts themselves write counts first. */
function namesIn(own: readonly Piece[], said: readonly Piece[]): ReadonlyMap<string, string> {
  const written = new Map<string, string>()
  for (const { text, isInitial } of [...said, ...own]) if (!isInitial) written.set(text.toLowerCase(), text)
  return written
}

function countsOf(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}

function toWord(text: string, { names, elsewhere, own, frequencies, words }: Known): Word {
  const seen = words.get(text)
  if (seen !== undefined) return seen
  const lower = text.toLowerCase()
  const written = names.get(lower) ?? lower
  const word: Word = {
    text: written,
    lower,
    kind: kindOfWord(written),
    isElsewhere: elsewhere.has(lower),
    isOwn: own.has(lower),
    capitals: countOf(written, CAPITAL),
    marks: countOf(written, MARK),
    frequency: Math.min(MOST_FREQUENT, frequencies.get(lower) ?? 1),
    isFixed: isFixed(written) && !isNumber(written),
  }
  words.set(text, word)
  return word
}

function* replacementsOf(
  own: readonly Word[],
  said: readonly Word[],
  elsewhere: readonly Word[],
): WordSteps<Omit<Replacements, 'used'>> {
  const bySort = new Map<string, Word[]>()
  const known = new Set<string>()
  for (const word of [...own, ...said]) {
    if (word.isFixed || known.has(word.lower)) continue
    known.add(word.lower)
    put(bySort, sortOf(word), word)
  }
  if (known.size > WORDS_OF_A_STEP) yield
  const quotable = new Set<string>()
  for (const [one, other] of pairsIn(elsewhere)) quotable.add(pairOf(one, other))
  if (elsewhere.length > WORDS_OF_A_STEP) yield
  const pairsBySort = new Map<string, (readonly [Word, Word])[]>()
  const pairs = new Set<string>()
  for (const [one, other] of pairsIn(said)) {
    const pair = pairOf(one, other)
    if ((one.isFixed && other.isFixed) || pairs.has(pair)) continue
    pairs.add(pair)
    put(pairsBySort, sortsOf(one, other), [one, other])
  }
  return { bySort, quotable, pairsBySort }
}

function* pairsIn(words: readonly Word[]): Generator<readonly [Word, Word]> {
  for (const [index, word] of words.entries()) {
    const next = words[index + 1]
    if (next !== undefined) yield [word, next]
  }
}

function put<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}

/** The run's own text in these sections, without our labels. */
function saidIn(sections: readonly SectionDraft[]): string[] {
  return sections.flatMap(({ fragments }) => fragments.flatMap(({ text, cut }) => (cut === undefined ? [] : [text])))
}

/** Invents a word of two or three syllables. */
function inventWord({ integer }: Pick<Randomness, 'integer'>): string {
  const pick = (letters: string): string => letters.charAt(integer(letters.length))
  const syllables = Array.from({ length: 2 + integer(2) }, () => pick('bdfghklmnprstvwz') + pick('aeiou'))
  return syllables.join('') + pick('nrstlm')
}
