import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import { expect, test } from 'vitest'

import { samplerProbability } from './sampler.ts'

const parentBased = (root: ConstructorParameters<typeof ParentBasedSampler>[0]['root']) =>
  new ParentBasedSampler({ root })

test.each([
  [new AlwaysOnSampler(), 1, 1],
  [new TraceIdRatioBasedSampler(0.25), 0.25, 0.25],
  [new TraceIdRatioBasedSampler(1e-7), 1e-7, 1e-7],
  [parentBased(new AlwaysOnSampler()), 1, undefined],
  [parentBased(new TraceIdRatioBasedSampler(0.1)), 0.1, undefined],
  [new AlwaysOffSampler(), undefined, undefined],
  [new TraceIdRatioBasedSampler(0), undefined, undefined],
  [parentBased(new AlwaysOffSampler()), undefined, undefined],
  [{ toString: () => 'TailFriendlySampler{0.5}' }, undefined, undefined],
  [{}, undefined, undefined],
])('%s keeps %s of the traces that begin here, and %s of the others', (sampler, here, elsewhere) => {
  expect(samplerProbability(String(sampler), true)).toBe(here)
  expect(samplerProbability(String(sampler), false)).toBe(elsewhere)
})
