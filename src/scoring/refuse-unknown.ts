import { closestName } from './closest-name.ts'
import { formatValue } from './format-value.ts'

/**
 * Refuses a name that nothing would read.
 *
 * @param subject what has the name
 * @param known the names that are read
 * @param kind what is named, such as an option or a field
 * @throws TypeError always: `expected … got …`
 */
export function refuseUnknown(subject: string, name: string, known: object, kind: string): never {
  const meant = closestName(name, Object.keys(known))
  const question = meant === undefined ? '' : ` Did you mean ${meant}?`
  const names = Object.keys(known).join(', ')
  throw new TypeError(`${subject}: expected one of ${names}, got an unknown ${kind}: ${formatValue(name)}.${question}`)
}
