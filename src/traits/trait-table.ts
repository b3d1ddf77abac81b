import { traitText } from './trait.ts'
import type { Trait } from './trait.ts'

/** A run with a label: whether it fails, for how many runs it counts, and its traits as numbers of a `TraitTable`. */
export interface TraitRun {
  /** 32 lower-case hex digits. */
  readonly traceId: string
  /** Whether its label is `fail`. */
  readonly fails: boolean
  /** How many runs it represents: 1 without sampling. */
  readonly weight: number
  /** The numbers of its traits. */
  readonly traits: readonly number[]
}

/** Gives each trait a number, so that many runs can be counted quickly. */
export class TraitTable {
  readonly #numbers = new Map<string, number>()
  readonly #traits: Trait[] = []

  /** The number of different traits. */
  get size(): number {
    return this.#traits.length
  }

  /** The numbers of these traits. */
  add(traits: readonly Trait[]): readonly number[] {
    return traits.map((trait) => {
      const text = `${trait.isSymptom === true ? 'symptom ' : ''}${traitText(trait)}`
      const known = this.#numbers.get(text)
      if (known !== undefined) return known
      this.#numbers.set(text, this.#traits.length)
      return this.#traits.push(trait) - 1
    })
  }

  /** @throws RangeError if no trait has this number */
  at(number: number): Trait {
    const trait = this.#traits[number]
    if (trait === undefined) throw new RangeError(`expected the number of a trait, got ${number}`)
    return trait
  }
}
