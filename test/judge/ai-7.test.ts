import { expect, it } from 'vitest'

import { sdkScenarios } from './sdk-scenarios.ts'

it('is ai 7 that is loaded', async () => {
  expect(await import('ai')).toHaveProperty('experimental_decide')
})

sdkScenarios('ai 7')
