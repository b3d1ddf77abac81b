import { expectOption } from './read-options.ts'
import type { KeysOf } from './read-options.ts'

/** The options of every prebuilt scorer. */
export interface ScorerOptions {
  /** Must be unique among the scorers: `^[a-z][a-z0-9_]*$`. @default the name of the scorer */
  readonly id?: string
  /**
   * Pass mark in the scorer's own units, within its range: passes if the score is `>=`, or `<=` if lower is better.
   *
   * @default depends on the scorer, see its documentation
   */
  readonly passAt?: number
}

/** The names of these options. */
export const scorerKeys: KeysOf<ScorerOptions> = { id: true, passAt: true }

/** The option of scorers of runs that can score whole conversations. */
export interface LevelOption {
  /** What a score is about: a `run`, or a `conversation` with the calls, steps and tokens of all its runs. @default 'run' */
  readonly level?: 'run' | 'conversation'
}

/** @throws TypeError if the level is another one */
export function expectLevel(factory: string, level: unknown): void {
  expectOption(level === 'run' || level === 'conversation', factory, "level to be 'run' or 'conversation'", level)
}
