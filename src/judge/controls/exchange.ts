import type { Randomness } from '../randomness.ts'
import { CAPITALS, capitalsOf, COSTS, costOfReplacement, COUNTS, lengthApart } from './exchange-costs.ts'
import type { Entry } from './exchange-costs.ts'
import { pairOf, sortOf, sortsOf } from './replaceable-words.ts'
import type { PlacedWord, Replacements, Word } from './replaceable-words.ts'

/** Of so many attempts, one exchanges two words for a pair that is quoted from elsewhere, or a word for any other of the texts. */
const [PAIR_IN, ANY_IN] = [4, 20]
/**
 * Of so many texts, one quotes a pair more than its original: others have to quote less, because nothing else can be quoted, and a difference
 * must not say which text is the original.
 */
const MORE_QUOTED_IN = 4
/** Texts of which more pairs of words are kept may make sense. Then their form may differ, and no pair may stay because it is quoted. */
const MOST_KEPT = 1 / 3
/** What a difference of form costs then, as a share of what it costs otherwise. Quoted pairs cost the same. */
const LOOSE = 0.5

type Changes = Map<Entry, Word>

/** Texts whose words are being exchanged. */
export class Exchange {
  readonly #replacements: Replacements
  readonly #isShort: boolean
  readonly #randomness: Pick<Randomness, 'integer'>
  readonly #entries = new Map<string, Entry>()
  readonly #moving: Entry[] = []
  /** The entries by what they are replaced by. */
  readonly #users = new Map<string, Entry>()
  /** The word in each place; nothing between two texts. */
  readonly #line: (Entry | undefined)[] = []
  /** The text of each place. */
  readonly #textAt: number[] = []
  /** Pairs of words that should not be left, because they may make sense. */
  readonly #originalPairs = new Set<string>()
  /** The places of pairs whose sorts are those of quoted pairs. */
  readonly #quotableAt: number[] = []
  /** For each text, the number of quoted pairs, and below each of the other counts, less the number that is wanted. */
  readonly #quoted: number[]
  readonly #surplus: number[][]
  /** What the quoted pairs cost, and the other counts, with the weight of the latter. */
  #quotedCost = 0
  #formCost = 0
  #formWeight = 1
  /** The number of places whose word the originals have, less the number of places in these whose word the nonsense has. */
  #common = 0

  constructor(
    texts: readonly (readonly PlacedWord[])[],
    replacements: Replacements,
    isShort: boolean,
    randomness: Pick<Randomness, 'integer'>,
  ) {
    this.#replacements = replacements
    this.#isShort = isShort
    this.#randomness = randomness
    this.#quoted = texts.map(() => 0)
    this.#surplus = texts.map(() => COUNTS.map(() => 0))
    for (const [text, words] of texts.entries()) {
      if (randomness.integer(MORE_QUOTED_IN) === 0) this.#countQuoted(text, -1)
      const longest = Math.max(0, ...words.map(({ text: { length } }) => length))
      for (const [index, word] of words.entries()) {
        const next = words[index + 1]
        const at = this.#line.length
        if (next !== undefined) {
          if (word.kind !== 'short' || next.kind !== 'short') this.#originalPairs.add(pairOf(word, next))
          const isMoving = !word.isFixed || !next.isFixed
          if (isMoving && replacements.pairsBySort.has(sortsOf(word, next))) this.#quotableAt.push(at)
        }
        // The same word may be written in several ways, and is replaced in only one.
        this.#count(text, CAPITALS, capitalsOf(word, word.isCapitalised) - word.writtenCapitals)
        const entry = this.#entryOf(word, longest)
        entry.places.push({ at, text, isCapitalised: word.isCapitalised })
        if (index === 0 || next === undefined) entry.ends += 1
        this.#line.push(entry)
        this.#textAt.push(text)
      }
      this.#line.push(undefined)
      this.#textAt.push(text)
    }
  }

  /** The number of different words that are exchanged. */
  get count(): number {
    return this.#moving.length
  }

  /** Whether so many words follow each other as in the original that the texts may make sense. */
  get keepsSense(): boolean {
    const pairs = this.#line.flatMap((entry, at) => (entry && this.#line[at + 1] ? [this.#pairAt(at)] : []))
    return pairs.filter((pair) => this.#originalPairs.has(pair)).length > pairs.length * MOST_KEPT
  }

  /** Makes differences of form cheap. */
  loosen(): void {
    this.#formWeight = LOOSE
  }

  /** The words of each text. */
  texts(): readonly (readonly Word[])[] {
    const texts: Word[][] = this.#quoted.map(() => [])
    for (const [at, entry] of this.#line.entries()) {
      if (entry !== undefined) texts[this.#textAt[at] ?? 0]?.push(entry.now)
    }
    return texts
  }

  /** Makes an exchange if it is for the better, and now and then if it is for the worse. Returns how many places it looked at. */
  attempt(temperature: number): number {
    const changes = this.#propose()
    if (changes === undefined) return 1
    const entries = [...changes.keys()]
    const back: Changes = new Map(entries.map((entry) => [entry, entry.now]))
    const pairs = this.#pairsWith(entries)
    const before = this.#costOf(entries, pairs)
    this.#make(changes, pairs)
    const worse = this.#costOf(entries, pairs) - before
    if (worse > 0 && this.#randomness.integer(1000) / 1000 >= Math.exp(-worse / temperature)) this.#make(back, pairs)
    return pairs.size
  }

  #entryOf(word: Word, longest: number): Entry {
    const known = this.#entries.get(word.lower)
    if (known !== undefined) {
      known.longest = Math.min(known.longest, longest)
      return known
    }
    const entry: Entry = { original: word, places: [], ends: 0, longest, now: word }
    this.#entries.set(word.lower, entry)
    this.#users.set(word.lower, entry)
    if (!word.isFixed) this.#moving.push(entry)
    return entry
  }

  #propose(): Changes | undefined {
    const changes: Changes = new Map()
    if (this.#quotableAt.length > 0 && this.#randomness.integer(PAIR_IN) === 0) {
      const at = this.#oneOf(this.#quotableAt) ?? 0
      const [one, other] = [this.#line[at], this.#line[at + 1]]
      if (one === undefined || other === undefined) return undefined
      const pair = this.#oneOf(this.#replacements.pairsBySort.get(sortsOf(one.original, other.original)) ?? [])
      if (pair === undefined) return undefined
      const isChanged =
        (one.original.isFixed || this.#change(changes, one, pair[0])) &&
        (other.original.isFixed || this.#change(changes, other, pair[1]))
      return isChanged ? changes : undefined
    }
    const entry = this.#oneOf(this.#moving)
    if (entry === undefined) return undefined
    const word = this.#randomness.integer(ANY_IN) === 0 ? this.#oneOf(this.#moving)?.now : this.#replacementOf(entry)
    return word !== undefined && this.#change(changes, entry, word) ? changes : undefined
  }

  /** A word of the same sort: of two, the one of more similar length. */
  #replacementOf({ original }: Entry): Word | undefined {
    const sort = this.#isShort ? sortOf({ ...original, isElsewhere: true }) : sortOf(original)
    const alike = this.#replacements.bySort.get(sort) ?? []
    const [one, other] = [this.#oneOf(alike), this.#oneOf(alike)]
    if (one === undefined || other === undefined) return undefined
    return lengthApart(one, original) < lengthApart(other, original) ? one : other
  }

  /** Replaces a word by another. If that one is in use, its user gets what the word was replaced by so far. */
  #change(changes: Changes, entry: Entry, word: Word): boolean {
    const user = this.#userOf(word, changes)
    if (user === entry || user?.original.isFixed === true) return false
    if (user !== undefined) changes.set(user, changes.get(entry) ?? entry.now)
    changes.set(entry, word)
    return true
  }

  #userOf(word: Word, changes: Changes): Entry | undefined {
    for (const [entry, now] of changes) if (now.lower === word.lower) return entry
    const user = this.#users.get(word.lower)
    return user === undefined || changes.has(user) ? undefined : user
  }

  #make(changes: Changes, pairs: ReadonlySet<number>): void {
    for (const at of pairs) if (this.#isQuoted(at)) this.#countQuoted(this.#textAt[at] ?? 0, -1)
    for (const entry of changes.keys()) this.#users.delete(entry.now.lower)
    for (const [entry, word] of changes) {
      for (const { text, isCapitalised } of entry.places) {
        for (const [index, { of }] of COUNTS.entries()) {
          this.#count(text, index, of(word, isCapitalised) - of(entry.now, isCapitalised))
        }
      }
      this.#common -= this.#moreInCommon(entry)
      entry.now = word
      this.#common += this.#moreInCommon(entry)
      this.#users.set(word.lower, entry)
    }
    for (const at of pairs) if (this.#isQuoted(at)) this.#countQuoted(this.#textAt[at] ?? 0, 1)
  }

  /** The places of all pairs that the words are part of. */
  #pairsWith(entries: readonly Entry[]): ReadonlySet<number> {
    const pairs = new Set<number>()
    for (const { places } of entries) {
      for (const { at } of places) {
        if (this.#line[at - 1] !== undefined) pairs.add(at - 1)
        if (this.#line[at + 1] !== undefined) pairs.add(at)
      }
    }
    return pairs
  }

  #moreInCommon({ now, places }: Entry): number {
    const same = this.#entries.get(now.lower)
    return same === undefined ? 0 : places.length - same.places.length
  }

  #pairAt(at: number): string {
    const [one, other] = [this.#line[at], this.#line[at + 1]]
    return one === undefined || other === undefined ? '' : pairOf(one.now, other.now)
  }

  #isQuoted(at: number): boolean {
    return this.#replacements.quotable.has(this.#pairAt(at))
  }

  #countQuoted(text: number, more: number): void {
    const surplus = this.#quoted[text] ?? 0
    this.#quoted[text] = surplus + more
    this.#quotedCost += COSTS.quoted * (Math.abs(surplus + more) - Math.abs(surplus))
  }

  #count(text: number, index: number, more: number): void {
    const counts = this.#surplus[text]
    if (counts === undefined || more === 0) return
    const surplus = counts[index] ?? 0
    counts[index] = surplus + more
    this.#formCost += (COUNTS[index]?.cost ?? 0) * (Math.abs(surplus + more) - Math.abs(surplus))
  }

  #costOf(entries: readonly Entry[], pairs: ReadonlySet<number>): number {
    let cost = this.#quotedCost + this.#formWeight * this.#formCost + COSTS.common * Math.abs(this.#common)
    for (const entry of entries) cost += costOfReplacement(entry, this.#isShort)
    for (const at of pairs) {
      const pair = this.#pairAt(at)
      const mayStay = this.#formWeight === 1 && this.#replacements.quotable.has(pair)
      const isKept = this.#originalPairs.has(pair) || this.#replacements.used.has(pair)
      if (isKept && !mayStay) cost += COSTS.keptPair
    }
    return cost
  }

  #oneOf<T>(list: readonly T[]): T | undefined {
    return list[this.#randomness.integer(Math.max(1, list.length))]
  }
}
