/** On the span object, so that every copy of the package and every processor sees it. */
const CLAIMS = Symbol.for('spanscore.claims')

/** Claims a span for a scorer; false where another processor has done so, or the span carries that score already. */
export function claim(span: { readonly attributes: Readonly<Record<string, unknown>> }, scorerId: string): boolean {
  if (span.attributes[`spanscore.${scorerId}.score`] !== undefined) return false
  const known: unknown = Reflect.get(span, CLAIMS)
  if (known instanceof Set) {
    if (known.has(scorerId)) return false
    known.add(scorerId)
    return true
  }
  Reflect.set(span, CLAIMS, new Set([scorerId]))
  return true
}
