/** The minimum of `engines` in `package.json`. */
const NEEDED = [22, 15] as const

/** Why this version of Node.js is too old, and what to do; `undefined` if it is not. */
export function complainOfNode(version: string, needed: readonly [number, number] = NEEDED): string | undefined {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  const isEnough = major > needed[0] || (major === needed[0] && minor >= needed[1])
  if (isEnough) return undefined
  return `Expected Node.js ${needed.join('.')} or later, got ${version}. Start with a newer Node.js; runs may stay without scores.`
}

/**
 * Why nothing of the package can work in this Node.js; `undefined` if it can. Some versions below the minimum do, and only get a notice.
 */
export function refuseNode({
  version,
  getBuiltinModule,
}: {
  readonly version: string
  readonly getBuiltinModule?: unknown
}): string | undefined {
  if (getBuiltinModule !== undefined) return undefined
  return `spanscore needs Node.js ${NEEDED.join('.')} or later, and this is ${version}.`
}
