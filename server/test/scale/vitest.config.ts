import { join } from 'node:path'

import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['server/test/scale/**/*.test.ts'],
    globalSetup: join(import.meta.dirname, 'start-shared-broker.ts'),
    testTimeout: 600_000,
    hookTimeout: 300_000,
    fileParallelism: false,
  },
})
