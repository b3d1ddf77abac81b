import { MAX_PARSED_LENGTH, parseJson } from './json.ts'

/**
 * Parses JSON text that an SDK's length limit cut off. Arrays and objects that were cut keep their complete members. `undefined` if not
 * even the beginning is JSON.
 *
 * @param depth how many levels of arrays and objects may have lost members; deeper ones are dropped as a whole
 */
export function parseCutJson(text: string, depth: number): unknown {
  if (text.length > MAX_PARSED_LENGTH) return undefined
  const closers: string[] = []
  let end = 0
  let endClosers = ''
  let isKey = false
  const markEnd = (index: number): void => {
    if (closers.length === 0 || closers.length > depth) return
    end = index
    endClosers = closers.toReversed().join('')
  }
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (character === '"') {
      index = endOfString(text, index)
      if (index === -1) break
      if (!isKey) markEnd(index + 1)
      isKey = false
    } else if (character === '{' || character === '[') {
      closers.push(character === '{' ? '}' : ']')
      isKey = character === '{'
      markEnd(index + 1)
    } else if (character === '}' || character === ']') {
      closers.pop()
      isKey = false
      markEnd(index + 1)
    } else if (character === ',') {
      markEnd(index)
      isKey = closers.at(-1) === '}'
    }
  }
  const value = parseJson(text.slice(0, end) + endClosers)
  return typeof value === 'string' ? undefined : value
}

/** The index of the quote that closes a string; -1 if it was cut off. */
export function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    if (text[index] === '\\') index++
    else if (text[index] === '"') return index
  }
  return -1
}
