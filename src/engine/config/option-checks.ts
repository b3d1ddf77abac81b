import { closestName } from '../../scoring/closest-name.ts'
import { formatValue } from '../../scoring/format-value.ts'
import { isRecord } from '../../spans/json.ts'
import type { OptionRow, OptionRows } from './option-table.ts'

/**
 * Validates an options object by its table and fills in the defaults.
 *
 * @param path how errors name the object
 * @throws TypeError `<path>: expected …, got …` if it is not an object, or a property is unknown or invalid
 */
export function readTable<Options extends object>(
  path: string,
  given: unknown,
  rows: OptionRows<Options>,
): Readonly<Partial<Options>> {
  if (!isRecord(given)) throw wrong(path, 'an object', given)
  const known = Object.keys(rows)
  for (const key of Object.keys(given)) if (!known.includes(key)) throw unknownOption(path, key, known)
  const read: Record<string, unknown> = {}
  for (const [name, row] of Object.entries<OptionRow>(rows)) {
    const value = given[name] ?? defaultOf(row)
    if (value === undefined) continue
    if (!isAccepted(row, value)) throw wrong(`${path}.${name}`, row.kind.expected, value)
    read[name] = value
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each value is of the kind that its row names
  return read as Partial<Options>
}

/** A value that cannot be read, such as a proxy that throws, is invalid. */
function isAccepted({ kind }: OptionRow, value: unknown): boolean {
  try {
    return kind.accepts(value)
  } catch {
    return false
  }
}

/** The default of an option; `undefined` if the option has none. */
function defaultOf({ default: fixed, defaultIn }: OptionRow): unknown {
  return defaultIn === undefined ? fixed : defaultIn(process.env)
}

function unknownOption(path: string, key: string, known: readonly string[]): TypeError {
  const meant = closestName(key, known)
  const expected = meant === undefined ? `one of ${known.join(', ')}` : meant
  const question = meant === undefined ? '' : ` Did you mean ${meant}?`
  return new TypeError(`${path}.${key}: expected ${expected}, got an unknown option.${question}`)
}

/** A programming error in the options. */
export function wrong(path: string, expected: string, got: unknown): TypeError {
  return new TypeError(`${path}: expected ${expected}, got ${formatValue(got)}.`)
}
