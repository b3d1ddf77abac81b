import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/e2e/**/*.test.ts'],
    // Only one stack runs at a time, because its ten servers share the machine with the measured program.
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 60_000,
    reporters: ['verbose'],
  },
})
