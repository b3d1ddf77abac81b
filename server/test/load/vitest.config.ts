import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { include: ['server/test/load/**/*.test.ts'], testTimeout: 300_000, fileParallelism: false },
})
