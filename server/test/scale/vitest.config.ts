import { join } from 'node:path'

import { defineConfig } from 'vitest/config'

const FOLDER = 'server/test/scale'

/** These send hundreds of spans a second, and run before the others, one at a time. */
const ALONE = ['scale', 'long-commits', 'chaos', 'cluster-away'].map((name) => `${FOLDER}/${name}.test.ts`)

const timeouts = { testTimeout: 600_000, hookTimeout: 300_000 }

export default defineConfig({
  test: {
    globalSetup: join(import.meta.dirname, 'start-shared-broker.ts'),
    projects: [
      { test: { ...timeouts, name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 1 } } },
      {
        test: {
          ...timeouts,
          name: 'together',
          include: [`${FOLDER}/**/*.test.ts`],
          exclude: ALONE,
          // They mostly wait: for timeouts, for brokers that are away, or for a slow sender.
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
