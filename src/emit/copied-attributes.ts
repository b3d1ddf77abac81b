import { BoundedNames } from './bounded-names.ts'
import type { ScoreAttributes } from '../attributes/attribute-table.ts'
import { NO_ATTRIBUTES } from './metric-sums.ts'

/** How many values of a copied attribute are kept apart. */
const MAX_VALUES = 50

/** How many characters of such a value are kept. */
const MAX_VALUE_LENGTH = 256

/** The run from which attributes are copied. */
export interface CopySource {
  readonly attributes: Readonly<Record<string, unknown>>
  /** Attributes of the spans around the run. */
  readonly surrounding?: Readonly<Record<string, unknown>> | undefined
  readonly resource: { readonly attributes: Readonly<Record<string, unknown>> }
}

/** Attributes of the agent's span, of the spans around it, or of its resource, that are copied to metrics and events: `metricAttributes`. */
export class CopiedAttributes {
  readonly #names: readonly string[]
  readonly #values = new Map<string, BoundedNames>()

  constructor(names: readonly string[]) {
    this.#names = names
  }

  /** The copied attributes of one run. After fifty values of an attribute, further ones become `other`. */
  of({ attributes, surrounding, resource }: CopySource): ScoreAttributes {
    if (this.#names.length === 0) return NO_ATTRIBUTES
    const copies: ScoreAttributes = {}
    for (const name of this.#names) {
      const given = attributes[name] ?? surrounding?.[name] ?? resource.attributes[name]
      if (typeof given !== 'string' && typeof given !== 'number' && typeof given !== 'boolean') continue
      const value = typeof given === 'string' ? given.slice(0, MAX_VALUE_LENGTH) : given
      const known = this.#values.get(name) ?? new BoundedNames(MAX_VALUES)
      this.#values.set(name, known)
      copies[name] = known.of(String(value)) === String(value) ? value : 'other'
    }
    return copies
  }
}
