import { resolve } from 'node:path'

import { defineConfig } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'

// The processes that tests start load the same modules again and again.
process.env['NODE_COMPILE_CACHE'] ??= resolve('.cache/compiled')

/** What is asserted about processor time or memory. */
const TIMING = '**/*.timing.test.ts'

const SCALE = 'server/test/scale'
/** These send hundreds of spans a second, and run before the others of their suite. */
const SCALE_ALONE = ['scale', 'long-commits', 'chaos', 'cluster-away'].map((name) => `${SCALE}/${name}.test.ts`)

/** They replace a clock, a global provider or variables of the environment, or say something once a process: each has a process of its own. */
const OWN_PROCESS = [
  'test/{doctor,hostile,notices,processor,reference}/**/*.test.ts',
  'test/{absent-facts,bundles,conversations,double-telemetry,examples,old-node,own-spans,score}.test.ts',
  'test/calibration/demo.test.ts',
  'test/collector-config/missing-runs.test.ts',
  'test/judge/{failures,models,untraced}.test.ts',
  'server/test/{changed-config,clocks,misspelt-names,story,stripped}.test.ts',
]

/** The longest files of those that share a process. Many wait more than they compute, so that they must not be alone at the end. */
const LONG =
  /(live-recordings|transformations|recipes|mcp|service|conversations|recordings|repeated|hostile|page-api|ended-page|receive|grpc)\.test\.ts$/

/** In a fresh clone vitest knows no durations, and a long file that started last would run alone at the end. */
class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- This is the method of the sequencer.
    const sorted = await super.sort(files)
    return sorted.toSorted((left, right) => placeOf(left) - placeOf(right))
  }
}

/** Files with a process of their own come first, as in vitest's own order: then shared processes are started once. */
function placeOf({ project, moduleId }: TestSpecification): number {
  if (project.name !== 'shared') return 0
  return LONG.test(moduleId) ? 1 : 2
}

/** A busy machine takes its time until something has happened. */
const PATIENT = { testTimeout: 60_000, expect: { poll: { timeout: 15_000 } } }

const NEVER = ['**/node_modules/**', '**/dist/**']

/** The suites beside `npm test`. */
const SLOW = [TIMING, 'test/e2e/**', 'server/test/{kills,scale,browser}/**']

/** One project a purpose. `npm test` runs the first two; CONTRIBUTING.md says what the others need. */
export default defineConfig({
  test: {
    sequence: { sequencer: LongFilesFirst },
    projects: [
      {
        test: {
          name: 'shared',
          // They leave their process as it was, so that they share it, its modules and the recordings.
          include: ['{cli/,server/,}{src,test}/**/*.test.ts'],
          exclude: [...NEVER, ...SLOW, ...OWN_PROCESS],
          isolate: false,
          maxWorkers: 4,
          ...PATIENT,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'own-process',
          include: OWN_PROCESS,
          exclude: [...NEVER, ...SLOW],
          // Some files wait more than they compute: for servers, processes and timers.
          maxWorkers: 4,
          ...PATIENT,
          sequence: { groupOrder: 0 },
        },
      },
      alone('timing', [TIMING], 300_000),
      alone('kills', ['server/test/kills/**/*.test.ts'], 300_000),
      // The machine may stall under ten servers, or under a browser, so that a test is tried twice.
      alone('e2e', ['test/e2e/**/*.test.ts'], 300_000, { retry: 1 }),
      alone('page', ['server/test/browser/**/*.test.ts'], 60_000, { retry: 1, ...PATIENT }),
      alone('scale', SCALE_ALONE, 600_000, { hookTimeout: 300_000, globalSetup: `${SCALE}/start-shared-broker.ts` }),
      {
        test: {
          name: 'scale-together',
          include: [`${SCALE}/**/*.test.ts`],
          exclude: [...NEVER, ...SCALE_ALONE],
          globalSetup: `${SCALE}/start-shared-broker.ts`,
          testTimeout: 600_000,
          hookTimeout: 300_000,
          // They mostly wait: for timeouts, for brokers that are away, or for a slow sender.
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})

/** A project whose files run one at a time, because they measure time or share the machine with servers of theirs. */
function alone(name: string, include: readonly string[], testTimeout: number, options: object = {}) {
  return {
    test: {
      name,
      include: [...include],
      exclude: NEVER,
      testTimeout,
      hookTimeout: 120_000,
      maxWorkers: 1,
      sequence: { groupOrder: 1 },
      ...options,
    },
  }
}
