import { BatchSpanProcessor, TracerProvider, InMemorySpanExporter } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'

import { CompositeProcessor } from '../attach/composite-processor.ts'
import { countUnsentSpans } from './other-processors.ts'

test('Spans that wait in batch processors are counted, behind a composite too, until they are flushed', async () => {
  const batch = new BatchSpanProcessor({ exporter: new InMemorySpanExporter() })
  const provider = new TracerProvider({ spanProcessors: [batch] })
  const tracer = provider.getTracer('test')
  tracer.startSpan('one').end()
  tracer.startSpan('two').end()
  const hostile = new Proxy(
    {},
    {
      get() {
        throw new Error('hostile')
      },
    },
  )
  expect(countUnsentSpans([new CompositeProcessor([batch, new CompositeProcessor([])]), hostile, undefined])).toBe(2)
  await provider.forceFlush()
  expect(countUnsentSpans([batch])).toBe(0)
})
