import { scoreNameOf } from '../../emit/score-attributes.ts'

/** On the span object, so that every copy of the package and every processor sees it. */
const CLAIMS: unique symbol = Symbol.for('spanscore.claims')

interface Claimable {
  readonly attributes: Readonly<Record<string, unknown>>
  [CLAIMS]?: unknown
}

/** Claims a span for a scorer; false where another processor has done so, or the span carries that score already. */
export function claim(span: { readonly attributes: Readonly<Record<string, unknown>> }, scorerId: string): boolean {
  const claimable: Claimable = span
  const known = claimable[CLAIMS]
  if (Array.isArray(known)) {
    if (known.includes(scorerId)) return false
    known.push(scorerId)
  } else {
    claimable[CLAIMS] = [scorerId]
  }
  return claimable.attributes[scoreNameOf(scorerId)] === undefined
}
