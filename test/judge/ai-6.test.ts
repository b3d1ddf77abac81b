import { expect, it, vi } from 'vitest'

import { sdkScenarios } from './sdk-scenarios.ts'

vi.mock('ai', () => import('ai6'))

it('is ai 6 that is loaded', async () => {
  expect(Object.keys(await import('ai'))).not.toContain('experimental_decide')
})

sdkScenarios('ai 6')
