import { setImmediate as nextTurn } from 'node:timers/promises'

import { TracerProvider } from '@opentelemetry/sdk-trace'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createLoopScorer } from '../../src/scorers/code/loop.ts'
import { createToolErrorsScorer } from '../../src/scorers/code/tool-errors.ts'
import type { LedgerSnapshot } from '../../src/scoring/ledger.ts'
import { open } from '../processor/harness.ts'

const operation = (name: string): Record<string, string> => ({
  'gen_ai.operation.name': name,
  'gen_ai.agent.name': 'a',
})

/** The tool calls that a model requested, as instrumentations of OpenAI write them. */
const choice = (index: number): object => ({
  index: 0,
  finish_reason: 'tool_calls',
  message: {
    tool_calls: [{ id: `c${index}`, type: 'function', function: { name: 't', arguments: '{"city":"Oslo"}' } }],
  },
})

/** What is noted of a flood: `begin` is called before each part of it, and what it returns after that part. */
export interface FloodNotes {
  readonly begin?: (what: string) => () => void
  readonly onRead?: () => void
}

/** Plays an agent with the given number of log records, on the given number of model spans, until it is scored. */
export async function playLogFlood(
  records: number,
  spans: number,
  { begin = () => () => undefined, onRead = () => undefined }: FloodNotes = {},
): Promise<LedgerSnapshot> {
  const processor = new ScoringSpanProcessor({ scorers: [createLoopScorer(), createToolErrorsScorer()], settleMs: 20 })
  const tracer = new TracerProvider({ spanProcessors: [processor] }).getTracer('agents')
  const noted = (what: string, hook: () => void): void => {
    const end = begin(what)
    hook()
    end()
  }
  const agent = open(tracer, 'invoke_agent a', operation('invoke_agent'))
  const models = Array.from({ length: spans }, () => open(tracer, 'chat', operation('chat'), agent))
  for (let from = 0; from < records; from += 100) {
    noted('a hundred log records', () => {
      for (let index = from; index < from + 100; index += 1) {
        const body = index % 2 === 0 ? choice(index) : { content: `question ${index}` }
        processor.logRecordProcessor.onEmit({
          hrTime: [1, index],
          spanContext: (models[index % spans] ?? agent).spanContext(),
          instrumentationScope: { name: 'agents' },
          attributes: {},
          eventName: index % 2 === 0 ? 'gen_ai.choice' : 'gen_ai.user.message',
          get body() {
            onRead()
            return body
          },
        })
      }
    })
  }
  for (const span of [...models, agent]) noted('the end of a span', () => span.end())
  const rows = () => Object.values(processor.ledger().scorers)
  for (let quiet = 0; quiet < 20;) {
    const end = begin('a turn')
    await nextTurn()
    end()
    quiet = rows().every(({ offered, pending }) => offered > 0 && pending === 0) ? quiet + 1 : 0
  }
  await processor.shutdown()
  return processor.ledger()
}
