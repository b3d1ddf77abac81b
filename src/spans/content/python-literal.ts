import { parseJson } from '../json.ts'

/** Deeper values are rejected: code that reads the value later may recurse. */
const MAX_DEPTH = 100

/**
 * Parses a value as Python prints it: dictionaries, lists, tuples, strings, numbers, `None`, `True`, `False`, and objects as
 * `Name(key=value)`, whose keys are used. A member of an enumeration, `<Name.MEMBER: value>`, is read as its value, and within a
 * structure `<function name at 0x…>`, which has no value, as null. `undefined` if the text is anything else, or has text after the
 * value.
 */
export function parsePythonLiteral(text: string): unknown {
  const first = text.trimStart().charAt(0)
  if (first !== '{' && first !== '[' && first !== '(' && !/^\w{1,80}\(/.test(text)) return undefined
  const reader = new Reader(text)
  try {
    const value = reader.value(0)
    return reader.isAtEnd() ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Parses the fields of an object as Python prints them without its name, `content='…' name=None`. `undefined` if the text is anything
 * else, or has text after the last value.
 */
export function parsePythonFields(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!/^\w{1,80}=/.test(text)) return undefined
  try {
    return new Reader(text).fields()
  } catch {
    return undefined
  }
}

/** The value of a text that is JSON or what Python prints of a value; any other text as it is. */
export function asWritten(value: unknown): unknown {
  const parsed = parseJson(value)
  return typeof parsed === 'string' ? (parsePythonLiteral(parsed) ?? parsed) : parsed
}

const NUMBER = /[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?/iy
const NAME = /[A-Za-z_][\w.]*/y
const MEMBER = /<[A-Za-z_][\w.]{0,100}: /y
const ADDRESS = /<[^'"\n]{1,200}? at 0x[0-9a-f]{1,16}>{1,2}/iy
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['None', null],
  ['True', true],
  ['False', false],
])
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '0': '\0' }

/** Reads the text in one pass. */
class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  isAtEnd(): boolean {
    return this.#peek() === ''
  }

  value(depth: number): unknown {
    if (depth > MAX_DEPTH) throw new Error('expected a value of at most 100 levels')
    const next = this.#peek()
    if (next === '{') return this.#dictionary(depth)
    if (next === '[') return this.#list(']', depth)
    if (next === '(') return this.#list(')', depth)
    if (next === "'" || next === '"') return this.#string(next)
    const number = this.#match(NUMBER)
    if (number !== undefined) return Number(number)
    if (this.#match(MEMBER) !== undefined) {
      const value = this.value(depth + 1)
      this.#expect('>')
      return value
    }
    if (this.#match(ADDRESS) !== undefined) return null
    const name = this.#match(NAME)
    if (name === undefined) throw new Error(`expected a value at ${this.#at}`)
    if (WORDS.has(name)) return WORDS.get(name)
    return this.#object(depth)
  }

  /** All that is left, as `name=value` with spaces between. */
  fields(): Record<string, unknown> {
    const entries: [string, unknown][] = []
    while (!this.isAtEnd()) entries.push(...this.#field(0))
    return Object.fromEntries(entries)
  }

  #dictionary(depth: number): Record<string, unknown> {
    const entries: [string, unknown][] = []
    this.#items('{', '}', () => {
      const key = this.value(depth + 1)
      this.#expect(':')
      if (key !== '__proto__') entries.push([String(key), this.value(depth + 1)])
      else this.value(depth + 1)
    })
    return Object.fromEntries(entries)
  }

  #object(depth: number): Record<string, unknown> {
    const entries: [string, unknown][] = []
    this.#items('(', ')', () => entries.push(...this.#field(depth)))
    return Object.fromEntries(entries)
  }

  /** One `name=value`; none where the name is one that an object may not have. */
  #field(depth: number): readonly [string, unknown][] {
    const key = this.#match(NAME)
    if (key === undefined) throw new Error(`expected a name at ${this.#at}`)
    this.#expect('=')
    const value = this.value(depth + 1)
    return key === '__proto__' ? [] : [[key, value]]
  }

  #list(close: string, depth: number): unknown[] {
    const values: unknown[] = []
    this.#items(this.#peek(), close, () => values.push(this.value(depth + 1)))
    return values
  }

  #items(open: string, close: string, read: () => void): void {
    this.#expect(open)
    while (this.#peek() !== close) {
      read()
      if (this.#peek() !== close) this.#expect(',')
    }
    this.#at++
  }

  #string(quote: string): string {
    let value = ''
    let from = ++this.#at
    for (; ; this.#at++) {
      const character = this.#text[this.#at]
      if (character === undefined) throw new Error('expected the end of a text')
      if (character !== '\\' && character !== quote) continue
      value += this.#text.slice(from, this.#at)
      if (character === quote) break
      value += this.#escaped(this.#text[++this.#at] ?? '')
      from = this.#at + 1
    }
    this.#at++
    return value
  }

  #escaped(letter: string): string {
    const digits = letter === 'x' ? 2 : letter === 'u' ? 4 : letter === 'U' ? 8 : 0
    if (digits === 0) return ESCAPES[letter] ?? letter
    const code = Number.parseInt(this.#text.slice(this.#at + 1, this.#at + 1 + digits), 16)
    this.#at += digits
    return String.fromCodePoint(code)
  }

  #peek(): string {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++
    return this.#text[this.#at] ?? ''
  }

  #expect(character: string): void {
    if (this.#peek() !== character) throw new Error(`expected ${character} at ${this.#at}`)
    this.#at++
  }

  #match(pattern: RegExp): string | undefined {
    this.#peek()
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }
}
