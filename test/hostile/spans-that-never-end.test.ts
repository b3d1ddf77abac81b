import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { codeScorer } from '../processor/harness.ts'

setFlagsFromString('--expose-gc')
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the function that the flag exposes
const collectGarbage = runInNewContext('gc') as () => void

function heapMiB(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed / 2 ** 20
}

/** More spans than are known by their ids at the same time. */
const REQUESTS = 35_000

test('requests that never end, with an ended model call below each, take no memory once their runs are evicted', () => {
  const scoring = new ScoringSpanProcessor({ scorers: [codeScorer('c')], memoryBytes: 50_000 })
  const tracer = new TracerProvider({ spanProcessors: [scoring] }).getTracer('app')
  const play = (): void => {
    for (let index = 0; index < REQUESTS; index += 1) {
      // The application forgets the span without ending it.
      const request = tracer.startSpan('POST /chat', {}, ROOT_CONTEXT)
      const attributes = { 'gen_ai.operation.name': 'chat' }
      tracer.startSpan('chat', { attributes }, trace.setSpan(ROOT_CONTEXT, request)).end()
    }
  }
  play()
  const before = heapMiB()
  play()
  const { open, evicted } = scoring.ledger().runs
  expect(open).toBeLessThan(30)
  expect(evicted).toBe(2 * REQUESTS - open)
  // A record of a hundred bytes for each request would take 3 MiB.
  expect(heapMiB() - before).toBeLessThan(3)
})
