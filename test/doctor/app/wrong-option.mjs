// An option that is misspelt: attachScoring throws.
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, TracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { attachScoring, createAnswerPresentScorer } from 'spanscore'

trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })] }),
)
attachScoring({ scorers: [createAnswerPresentScorer()], sampel: 0.1 })
