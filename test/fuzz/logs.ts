import type { Span } from '@opentelemetry/api'
import type { ScoringSpanProcessor } from 'spanscore'

import type { Random } from './random.ts'
import { strangeKey, strangeValue } from './values.ts'

type LogRecord = Parameters<ScoringSpanProcessor['logRecordProcessor']['onEmit']>[0]

const NAMES = ['gen_ai.choice', 'gen_ai.user.message', 'gen_ai.client.inference.operation.details', 'gen_ai.', 'event']
const SCOPES = ['agents', 'opentelemetry.instrumentation.openai_v2', 'io.opentelemetry.js.openai', '__proto__']

/** A log record of a span, as an instrumentation might write it, or as none would. */
export function strangeLog(span: Span, random: Random): LogRecord {
  const content = random.chance(0.5) ? strangeValue(random) : 'What is the weather?'
  const bodies: readonly unknown[] = [
    { content },
    { index: 0, message: { content, tool_calls: strangeValue(random) } },
    { message: { tool_calls: [{ id: 'c', type: 'function', function: { name: content, arguments: content } }] } },
    strangeValue(random),
    undefined,
  ]
  const record: unknown = {
    spanContext: random.chance(0.95) ? span.spanContext() : strangeValue(random),
    eventName: random.chance(0.9) ? random.pick(NAMES) : strangeValue(random),
    hrTime: random.chance(0.95) ? [1, random.integer(1e9)] : strangeValue(random),
    attributes: random.chance(0.9)
      ? { [strangeKey(random)]: strangeValue(random), 'gen_ai.input.messages': content, 'event.name': 'gen_ai.choice' }
      : strangeValue(random),
    body: random.pick(bodies),
    instrumentationScope: random.chance(0.95) ? { name: random.pick(SCOPES) } : strangeValue(random),
  }
  return record as LogRecord
}
