/** The beginning of a question shows its language and its subject. */
const MAX_CHARACTERS = 500
const MAX_WORDS = 24

const SCRIPTS = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Han',
  'Hiragana',
  'Katakana',
  'Hangul',
  'Arabic',
  'Hebrew',
  'Thai',
  'Devanagari',
] as const

const LETTERS: ReadonlyArray<readonly [string, RegExp]> = SCRIPTS.map((script) => [
  script,
  new RegExp(`\\p{Script=${script}}`, 'gu'),
])

/** The script of most letters of a question, such as `Latin`; `undefined` without letters. */
export function questionScript(question: string | undefined): string | undefined {
  const text = question?.slice(0, MAX_CHARACTERS) ?? ''
  let most = 0
  let script: string | undefined
  for (const [name, letters] of LETTERS) {
    const count = text.match(letters)?.length ?? 0
    if (count > most) [most, script] = [count, name]
  }
  return script
}

/** The words of a question, in lower case, each once: of 3 to 20 letters, at most 24. */
export function questionWords(question: string | undefined): readonly string[] {
  const words =
    question
      ?.slice(0, MAX_CHARACTERS)
      .toLowerCase()
      .match(/\p{L}+/gu) ?? []
  return [...new Set(words.filter(({ length }) => length >= 3 && length <= 20))].slice(0, MAX_WORDS)
}
