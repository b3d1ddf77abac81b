import type { Boundary } from '../prompt/boundary.ts'
import type { Randomness } from '../randomness.ts'

type Digest = Pick<Randomness, 'digest'>

/**
 * Draws the ids that a call shows for its questions. They are random letters and digits, so that the judged text cannot name them and
 * nobody can tell a real question from a control.
 */
export function createIdDraw({ mark }: Boundary, randomness: Digest): (name: string, isControl: boolean) => string {
  const used = new Set<string>()
  return (name, isControl) => {
    for (const id of idCandidates(mark, name, randomness)) {
      if (used.has(id) || isControlId(mark, id, randomness) !== isControl) continue
      used.add(id)
      return id
    }
    throw new Error(`expected an id for ${name} that is not used`)
  }
}

const MOST_CANDIDATES = 1000

/** The candidate ids for a name in the call with this mark, in the order in which they are tried. */
export function* idCandidates(mark: string, name: string, randomness: Digest): Generator<string, undefined> {
  for (let attempt = 0; attempt < MOST_CANDIDATES; attempt++) {
    const bits = Number.parseInt(randomness.digest(`${mark} id ${attempt} ${name}`).slice(0, 8), 16)
    // With 30 bits and several hundred names, two questions practically never share an id.
    yield `q${(bits >>> 2).toString(32).padStart(6, '0')}`
  }
  return undefined
}

/** Whether an id belongs to a control of the call with this mark: one bit of its hash, readable only with the key. */
export function isControlId(mark: string, id: string, { digest }: Digest): boolean {
  return Number.parseInt(digest(`${mark} control ${id}`).slice(0, 1), 16) % 2 === 1
}
