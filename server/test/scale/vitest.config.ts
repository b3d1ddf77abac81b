import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['server/test/scale/**/*.test.ts'],
    globalSetup: 'server/test/scale/start-shared-broker.ts',
    testTimeout: 600_000,
    hookTimeout: 300_000,
    fileParallelism: false,
  },
})
