import { expect, it } from 'vitest'

import { Nonsense } from '../../src/judge/controls/nonsense.ts'
import { toWordPieces } from '../../src/judge/prompt/segments.ts'
import { withoutPause } from '../../src/scoring/in-slices.ts'
import { exchangeRuns } from './exchanges.ts'
import { lowerCaseWords as words } from './recorded-runs.ts'

/** Texts with the rest of their prompts. */
const texts = exchangeRuns().flatMap(({ run }) => {
  const [request = '', answer = ''] = [run.userInput, run.output]
  const calls = run.toolCalls.map((call) => JSON.stringify([call.name, call.arguments, call.result]))
  return [
    { text: request, rest: [answer, ...calls] },
    { text: answer, rest: [request] },
  ]
})

const toSections = (rest: readonly string[]) => [
  { title: 'rest', fragments: rest.map((text) => ({ text, cut: 'last' as const })) },
]

function seeded(seed: number): { readonly integer: (below: number) => number } {
  let state = seed
  return {
    integer: (below) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    },
  }
}

const nonsenseOf = (text: string, rest: readonly string[], seed = 1): string => {
  const randomness = seeded(seed)
  return withoutPause(withoutPause(Nonsense.create([text], toSections(rest), randomness)).of(text))
}

/** Words that follow each other. Numbers, ids and single letters keep their places, and two short words mean nothing. */
const pairsOf = (own: readonly string[]): string[] =>
  own
    .slice(1)
    .flatMap((word, index) =>
      /\d|(?:^| )\p{L}(?: |$)|^.{1,3} .{1,3}$/u.test(`${own[index]} ${word}`) ? [] : [`${own[index]} ${word}`],
    )
const between = (text: string): string[] => toWordPieces(text).flatMap((piece) => (piece.isWord ? [] : [piece.text]))
const shareOf = (count: number, all: number): number => count / Math.max(1, all)

const made = texts.map(({ text, rest }) => ({ text, rest, nonsense: nonsenseOf(text, rest) }))

it('keeps what is between words', () => {
  for (const { text, nonsense } of made) {
    expect(between(nonsense)).toEqual(between(text))
  }
})

it('keeps at most a third of the words that follow each other, in 97 of 100 texts', () => {
  const keeping = made.filter(({ text, nonsense }) => {
    const original = new Set(pairsOf(words(text)))
    const own = pairsOf(words(nonsense))
    return shareOf(own.filter((pair) => original.has(pair)).length, own.length) > 1 / 3
  })
  expect(shareOf(keeping.length, made.length)).toBeLessThan(0.03)
})

it('has as many different words as the original, and as many that occur elsewhere', () => {
  const differing = made.filter(({ text, rest, nonsense }) => {
    const elsewhere = new Set(words(rest.join('\n')))
    const [original, own] = [words(text), words(nonsense)]
    const [shared, sharedOwn] = [original, own].map((all) => all.filter((word) => elsewhere.has(word)).length)
    return shared !== sharedOwn || new Set(original).size !== new Set(own).size
  })
  expect(shareOf(differing.length, made.length)).toBeLessThan(0.15)
})

it('replaces equal words by equal words, also in several texts', () => {
  const two = ['The parcel for Anna left the depot on Monday.', 'Anna gets the parcel on Monday, and the invoice.']
  const nonsense = withoutPause(
    Nonsense.create(two, toSections(['Where is my parcel? Monday was promised.']), seeded(3)),
  )
  const [one = [], other = []] = withoutPause(nonsense.ofAll(two)).map((text) => words(text))
  const replacements = new Map<string, Set<string>>()
  for (const [index, word] of two.flatMap((text) => words(text)).entries()) {
    replacements.set(word, (replacements.get(word) ?? new Set()).add([...one, ...other][index]!))
  }
  expect([...replacements.values()].every(({ size }) => size === 1)).toBe(true)
  expect(new Set([...one, ...other]).size).toBe(replacements.size)
})

it('replaces numbers of short texts that occur only in them', () => {
  expect(nonsenseOf('480 euros.', ['How much is my order of 12 lamps?'])).not.toMatch(/480/)
})

it('is drawn anew each time', () => {
  const { text, rest } = texts[1]!
  expect(nonsenseOf(text, rest, 1)).toBe(nonsenseOf(text, rest, 1))
  expect(new Set([1, 2, 3, 4].map((seed) => nonsenseOf(text, rest, seed))).size).toBeGreaterThan(1)
})
