import { readFileSync } from 'node:fs'

import type { AgentRun } from '../../src/model/agent-run.ts'
import { buildRuns } from '../../src/runs/build-runs.ts'
import { sourceSpan } from '../fixtures/source-span.ts'

interface Exchange {
  readonly request: string
  readonly answer: string
  readonly calls: readonly { readonly name: string; readonly args: object; readonly result: unknown }[]
  readonly context: readonly string[]
}

/** A run of an exchange, and documents that its answer may come from. */
export interface ExchangeRun {
  readonly run: AgentRun
  readonly context: readonly string[]
}

const say = (role: string, content: string): string => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])

/**
 * Invented exchanges of 200 users with agents of many fields, in a dozen languages. Recorded runs have few requests, most of them about
 * the weather.
 */
export function exchangeRuns(): readonly ExchangeRun[] {
  const exchanges: readonly Exchange[] = JSON.parse(readFileSync(new URL('exchanges.json', import.meta.url), 'utf8'))
  return exchanges.map(({ request, answer, calls, context }, index) => {
    const traceId = String(index + 1).padStart(32, '0')
    const [run] = buildRuns([
      sourceSpan({
        traceId,
        spanId: '1'.padStart(16, '0'),
        name: 'invoke_agent helper',
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.input.messages': say('user', request),
          'gen_ai.output.messages': say('assistant', answer),
        },
      }),
      ...calls.map(({ name, args, result }, at) =>
        sourceSpan({
          traceId,
          spanId: String(at + 2).padStart(16, '0'),
          parentSpanId: '1'.padStart(16, '0'),
          name: `execute_tool ${name}`,
          attributes: {
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.name': name,
            'gen_ai.tool.call.id': `call-${at}`,
            'gen_ai.tool.call.arguments': JSON.stringify(args),
            'gen_ai.tool.call.result': JSON.stringify(result),
          },
        }),
      ),
    ])
    if (run === undefined) throw new Error(`expected exchange ${index + 1} to be a run`)
    return { run, context }
  })
}
