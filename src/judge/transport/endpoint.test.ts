import { describe, expect, it } from 'vitest'

import { contentFree } from '../../model/explanation.ts'
import { Endpoint, endpointOf } from './endpoint.ts'
import type { CallError } from './call-error.ts'

const error: CallError = {
  code: 'judge-http',
  message: contentFree('It failed.'),
  retryable: true,
  rateLimited: false,
  opensCircuit: false,
}
const refused: CallError = { ...error, code: 'judge-auth', message: contentFree('Key refused.'), opensCircuit: true }
const limited: CallError = { ...error, code: 'judge-quota', rateLimited: true }

describe('an endpoint', () => {
  it('opens at the first failure that a retry cannot fix, lets one call through after a minute, and doubles the wait each time', () => {
    const endpoint = new Endpoint()
    expect(endpoint.admit(0)).toEqual({ state: 'go' })
    endpoint.failed(refused, 0)
    expect(endpoint.admit(59_999)).toEqual({ state: 'open', untilMs: 60_000, why: contentFree('Key refused.') })
    expect(endpoint.admit(60_000)).toEqual({ state: 'go' })
    expect(endpoint.admit(60_001)).toMatchObject({ state: 'open', untilMs: 90_000 })
    endpoint.failed(refused, 61_000)
    expect(endpoint.admit(180_999)).toMatchObject({ state: 'open', untilMs: 181_000 })
    expect(endpoint.admit(181_000)).toEqual({ state: 'go' })
    endpoint.succeeded()
    expect(endpoint.admit(181_001)).toEqual({ state: 'go' })
  })

  it('opens after eight other consecutive failures, and resets the count at a success', () => {
    const endpoint = new Endpoint()
    for (let count = 0; count < 7; count++) endpoint.failed(error, 0)
    endpoint.succeeded()
    for (let count = 0; count < 7; count++) endpoint.failed(error, 0)
    expect(endpoint.admit(0)).toEqual({ state: 'go' })
    endpoint.failed(error, 0)
    expect(endpoint.admit(0)).toMatchObject({ state: 'open' })
  })

  it('waits after a 429 as long as the server asks, calls less often, and speeds up again', () => {
    const endpoint = new Endpoint()
    endpoint.failed({ ...limited, waitMs: 2000 }, 0)
    expect(endpoint.admit(500)).toEqual({ state: 'wait', ms: 1500 })
    expect(endpoint.admit(2000)).toEqual({ state: 'go' })
    expect(endpoint.admit(2000)).toEqual({ state: 'wait', ms: 250 })
    endpoint.failed(limited, 2000)
    expect(endpoint.admit(2000)).toEqual({ state: 'wait', ms: 500 })
    let nowMs = 10_000
    for (let count = 0; count < 40; count++) {
      endpoint.admit(nowMs)
      endpoint.succeeded()
      nowMs += 1000
    }
    expect([endpoint.admit(nowMs), endpoint.admit(nowMs)]).toEqual([{ state: 'go' }, { state: 'go' }])
  })

  it('exists once for each key, and for each model instance', () => {
    const [instance, other] = [{}, {}]
    expect(endpointOf('a')).toBe(endpointOf('a'))
    expect(endpointOf('a')).not.toBe(endpointOf('b'))
    expect(endpointOf(instance)).toBe(endpointOf(instance))
    expect(endpointOf(instance)).not.toBe(endpointOf(other))
  })
})
