/**
 * Something that a run has and that other runs may share: a key and a value, such as `service.version` and `1.1.0`. A run may have several
 * traits of one key, such as a `tool called` for each tool.
 */
export interface Trait {
  /** The name of an attribute, or one of `TRAIT_KEYS`; another scorer's failing label, and `attacked`, have the scorer's id as their key. */
  readonly key: string
  /** At most 80 characters, on one line. */
  readonly value: string
  /** Present if the trait is the result of a scorer that goes along with a failure and does not explain it. */
  readonly isSymptom?: true
}

/** The keys of traits that are no attributes, in the order in which they are preferred as an explanation of the same runs. */
export const TRAIT_KEYS = [
  'prompt',
  'tools offered',
  'model',
  'failed tool',
  'tool error',
  'documents found',
  'finish reason',
  'error',
  'status',
  'missing',
  'turn',
  'input tokens',
  'tool called',
  'path',
  'steps',
  'seconds',
  'question script',
  'question word',
] as const

/** One of `TRAIT_KEYS`. */
export type TraitKey = (typeof TRAIT_KEYS)[number]

const ORDER: ReadonlyMap<string, number> = new Map(TRAIT_KEYS.map((key, index) => [key, index + 2]))

/** The place of a key among traits of the same runs: versions first, then attributes, then `TRAIT_KEYS`. */
export function orderOfKey(key: string): number {
  return key === 'service.version' || key === 'agent version' ? 0 : (ORDER.get(key) ?? 1)
}

/** A trait as one text, such as `service.version = 1.1.0`. */
export function traitText({ key, value }: Pick<Trait, 'key' | 'value'>): string {
  return `${key} = ${value}`
}
