import type { KeysOf } from './read-options.ts'

/** What every prebuilt scorer takes. */
export interface ScorerOptions {
  /** Two scorers of one kind need different ids: `^[a-z][a-z0-9_]*$`. @default the name of the scorer */
  readonly id?: string
  /**
   * Pass mark in the scorer's own units, within its range: pass is `>=`, `<=` where lower is better.
   *
   * @default a value of each scorer, which its documentation names
   */
  readonly passAt?: number
}

/** The names of these options. */
export const scorerKeys: KeysOf<ScorerOptions> = { id: true, passAt: true }
