import type { Boundary } from '../prompt/boundary.ts'
import type { Randomness } from '../randomness.ts'

type Digest = Pick<Randomness, 'digest'>

/**
 * Draws the ids under which a call shows its questions: letters and digits without any meaning, so that the judged text can name
 * none of them and nobody can distinguish a real question from a control.
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

/** The ids that a name may have in the call with this mark, in the order in which they are tried. */
export function* idCandidates(mark: string, name: string, randomness: Digest): Generator<string, undefined> {
  for (let attempt = 0; attempt < MOST_CANDIDATES; attempt++) {
    const bits = Number.parseInt(randomness.digest(`${mark} id ${attempt} ${name}`).slice(0, 8), 16)
    // 30 bits: of several hundred names, those that two calls ask about practically never share an id.
    yield `q${(bits >>> 2).toString(32).padStart(6, '0')}`
  }
  return undefined
}

/** Whether an id of the call with this mark is that of a control: a bit of its hash, which needs the key to be read. */
export function isControlId(mark: string, id: string, { digest }: Digest): boolean {
  return Number.parseInt(digest(`${mark} control ${id}`).slice(0, 1), 16) % 2 === 1
}
