import { describe, expect, it } from 'vitest'

import { call, calls, notRecorded, score } from '../../../test/fixtures/code-runs.ts'
import { createHallucinatedToolScorer } from './hallucinated-tool.ts'

describe('hallucinated tool', () => {
  const scorer = createHallucinatedToolScorer()
  const availableTools = [{ name: 'a' }]

  it('gives the share of calls to tools that were not offered', () => {
    expect(score(scorer, { availableTools, toolCalls: calls('aaxy') })).toMatchObject({
      value: 0.5,
      label: 'fail',
      findings: [
        { text: 'x', places: [{ in: 'call', index: 2 }] },
        { text: 'y', places: [{ in: 'call', index: 3 }] },
      ],
    })
    expect(score(scorer, { availableTools, toolCalls: calls('aa') })).toMatchObject({ value: 0, label: 'pass' })
    expect(score(createHallucinatedToolScorer({ tools: ['x'] }), { toolCalls: calls('x') })).toMatchObject({ value: 0 })
  })

  it('counts tools of the provider as offered', () => {
    expect(
      score(scorer, { availableTools, toolCalls: [call('web_search', {}, { providerExecuted: true })] }),
    ).toMatchObject({ value: 0 })
  })

  it('counts refusals if the offered tools were not recorded, and is skipped without any', () => {
    const refused = call(
      'x',
      {},
      {
        status: 'not-executed',
        error: { type: 'AI_NoSuchToolError', message: "Model tried to call unavailable tool 'x'." },
      },
    )
    expect(score(scorer, { toolCalls: [refused] })).toMatchObject({ value: 1 })
    expect(score(scorer, { toolCalls: calls('x'), ...notRecorded('availableTools') })).toMatchObject({
      status: 'skipped',
      reason: 'no-content',
    })
    expect(score(scorer)).toMatchObject({ status: 'skipped', reason: 'not-applicable' })
  })
})
