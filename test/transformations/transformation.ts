import type { Scenario } from '../corpus/load.ts'

/** A change of a recording that leaves its runs as they are, or changes them in a known way. */
export interface Transformation {
  /** Continues a sentence that begins with "The runs of … are right". */
  readonly name: string
  /** Recordings whose runs it changes in another way, each with its reason. Every one must be needed. */
  readonly exceptions: readonly TransformationException[]
  /** @returns what is wrong with the runs of the changed recording, or `undefined` */
  readonly check: (scenario: Scenario) => unknown
}

/** Recordings of which a transformation does not hold. */
export interface TransformationException {
  readonly library: RegExp
  readonly scenario: RegExp
  readonly why: string
}
