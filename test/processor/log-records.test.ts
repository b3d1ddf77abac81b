import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { LoggerProvider } from '@opentelemetry/sdk-logs'
import { expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { codeScorer, createPipeline, open } from './harness.ts'

test('messages that an instrumentation writes as log records are read if the application adds the log processor', async () => {
  const answers: (string | undefined)[] = []
  const scoring = new ScoringSpanProcessor({
    scorers: [
      codeScorer('answered', {
        assess: (run) => {
          answers.push(run.output)
          return { status: 'scored', value: run.output === undefined ? 0 : 1 }
        },
      }),
    ],
  })
  const { tracer } = await createPipeline({ processors: (batch) => [scoring, batch] })
  const logger = new LoggerProvider({ processors: [scoring.logRecordProcessor] }).getLogger('openai')
  const agent = open(tracer, 'invoke_agent a', { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'a' })
  const chat = open(tracer, 'chat gpt-test', { 'gen_ai.operation.name': 'chat', 'gen_ai.system': 'openai' }, agent)
  logger.emit({
    eventName: 'gen_ai.choice',
    context: trace.setSpan(ROOT_CONTEXT, chat),
    attributes: { 'gen_ai.system': 'openai' },
    body: { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'It is sunny.' } },
  })
  chat.end()
  agent.end()
  expect(answers).toEqual(['It is sunny.'])
})
