// An option that is misspelt: attachScoring throws.
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { attachScoring, createAnswerPresentScorer } from 'spanscore'

new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new InMemorySpanExporter())] }).register()
attachScoring({ scorers: [createAnswerPresentScorer()], sampel: 0.1 })
