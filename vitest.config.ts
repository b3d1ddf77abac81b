import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['server/src/**/*.test.ts', 'server/test/**/*.test.ts', 'src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: [
      'test/e2e/**',
      'test/compat/**',
      'server/test/load/**',
      'server/test/scale/**',
      'server/test/browser/**',
      '**/node_modules/**',
    ],
    // Two forks at most: the suite starts servers and measures stalls, and must not starve itself.
    maxWorkers: 2,
    testTimeout: 20_000,
  },
})
