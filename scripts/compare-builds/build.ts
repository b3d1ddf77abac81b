import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import type * as main from '../../src/entries/main.ts'
import type * as runs from '../../src/entries/runs.ts'
import type { Product } from '../../test/corpus/product.ts'

/** The entries of a build. */
export interface Build extends Product {
  readonly readRuns: typeof runs.readRuns
}

/**
 * Loads what the built package of a checkout exports.
 *
 * @throws Error if the checkout is not built
 */
export async function loadBuild(folder: string): Promise<Build> {
  const entry = (name: string) => join(resolve(folder), 'dist/entries', `${name}.js`)
  if (!existsSync(entry('main'))) {
    throw new Error(`Expected the folder of a checkout that is built, got ${folder}: npm ci && npm run build`)
  }
  /* oxlint-disable typescript/no-unsafe-type-assertion -- the other build has the same entries as this one */
  const scorers = (await import(pathToFileURL(entry('main')).href)) as typeof main
  const { readRuns, reconstructRuns } = (await import(pathToFileURL(entry('runs')).href)) as typeof runs
  /* oxlint-enable typescript/no-unsafe-type-assertion */
  const { ScoringSpanProcessor, attachScoring } = scorers
  return { ScoringSpanProcessor, attachScoring, reconstructRuns, readRuns, scorers }
}
