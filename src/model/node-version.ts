type Version = readonly [major: number, minor: number]

/** The minimum of `engines` in `package.json`. */
const NEEDED: Version = [22, 15]

/** Older versions lack what the package is built on. From here to the minimum most of it works. */
const LEAST: Version = [22, 3]

/** Why this version of Node.js is too old, and what to do; `undefined` if it is not. */
export function complainOfNode(version: string, needed: Version = NEEDED): string | undefined {
  if (!isBelow(version, needed)) return undefined
  return `Expected Node.js ${needed.join('.')} or later, got ${version}. Start with a newer Node.js.`
}

/** Why nothing can be scored in this version of Node.js; `undefined` if it can. Scorers can be created all the same, so that applications start. */
export function refuseNode(version: string = process.version): string | undefined {
  if (!isBelow(version, LEAST)) return undefined
  return `spanscore needs Node.js ${NEEDED.join('.')} or later, and this is ${version}.`
}

function isBelow(version: string, [neededMajor, neededMinor]: Version): boolean {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  return major < neededMajor || (major === neededMajor && minor < neededMinor)
}
