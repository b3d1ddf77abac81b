// The provider is built, and not registered.
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { attachScoring, createLoopScorer } from 'spanscore'

const provider = new NodeTracerProvider()
attachScoring({ scorers: [createLoopScorer()] })
provider.getTracer('agents').startSpan('lost').end()
