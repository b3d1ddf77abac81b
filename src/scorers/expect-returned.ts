import { disown, isThenable } from '../scoring/thenable.ts'
import { expectOption } from './read-options.ts'

/**
 * Checks what an option that is a function returned, as such options are checked that are values: anything else would become a wrong score.
 * A promise is refused, and its rejection is handled, because an unhandled one would end the application's process.
 *
 * @param subject the scorer's id
 * @param expected what the function must return, as in `keywords to be words`
 * @param accepts whether a value is that
 * @returns `undefined` if the function returned nothing for this run
 * @throws TypeError if it returned anything else
 */
export function expectReturned<Value>(
  value: Value,
  subject: string,
  expected: string,
  accepts: (value: unknown) => boolean,
): NonNullable<Value> | undefined {
  if (isThenable(value)) {
    disown(value)
    throw new TypeError(`${subject}: expected ${expected}, got a promise; the function cannot be async.`)
  }
  if (value === undefined || value === null) return undefined
  expectOption(accepts(value), subject, expected, value)
  return value
}
