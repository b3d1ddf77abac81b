// The provider is built, and not registered.
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { attachScoring, createLoopScorer } from 'spanscore'

const provider = new TracerProvider()
attachScoring({ scorers: [createLoopScorer()] })
provider.getTracer('agents').startSpan('lost').end()
