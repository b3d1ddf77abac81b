import { OpenTelemetry } from '@ai-sdk/otel'
import { registerOTel } from '@vercel/otel'
import { registerTelemetry } from 'ai'
import { getScoring } from './lib/scoring.js'

export function register() {
  registerOTel({ serviceName: 'my-agents' })
  registerTelemetry(new OpenTelemetry())
  getScoring()
}
