import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['server/test/browser/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    fileParallelism: false,
    expect: { poll: { timeout: 15_000 } },
  },
})
