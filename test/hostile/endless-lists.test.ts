import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import type { Span } from '@opentelemetry/api'
import { expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createAnswerPresentScorer } from '../../src/scorers/code/answer-present.ts'
import { createLoopScorer } from '../../src/scorers/code/loop.ts'
import { createToolArgumentsScorer } from '../../src/scorers/code/tool-arguments.ts'
import { createToolErrorsScorer } from '../../src/scorers/code/tool-errors.ts'
import { agentAttributes, expectBalanced, open } from '../processor/harness.ts'

/** Values that look small and never end for code that visits everything. */
const ENDLESS: Readonly<Record<string, () => unknown>> = {
  'a list that is longer than what it holds': () => Object.assign([], { length: 2 ** 32 - 1 }),
  'such a list within a message': () => [{ role: 'assistant', parts: Object.assign([], { length: 2 ** 32 - 1 }) }],
  'such a list below a hundred others': () => {
    let value: unknown = Object.assign([], { length: 2 ** 32 - 1 })
    for (let depth = 0; depth < 103; depth += 1) value = [value]
    return value
  },
  'a list behind a proxy': () => new Proxy([], { get: (list, key) => (key === 'length' ? 2 ** 32 - 1 : list.at(0)) }),
  'a list whose iterator never ends': () =>
    new (class extends Array<string> {
      override *[Symbol.iterator](): ArrayIterator<string> {
        for (;;) yield 'x'
      }
    })(3),
  'a value that contains itself twice': () => {
    const value: Record<string, unknown> = { role: 'user' }
    value['parts'] = [value, value]
    return [value]
  },
  'such a list behind a value that throws': () => [
    Object.defineProperty({}, 'trap', { enumerable: true, get: () => expect.fail('read') }),
    Object.assign([], { length: 2 ** 32 - 1 }),
  ],
}

/** Sets an attribute that the API would refuse, as SDK 3.x does not. */
function set(span: Span, key: string, value: unknown): void {
  Object.defineProperty(Reflect.get(span, 'attributes') as object, key, { value, enumerable: true })
}

/** Where such a value may come from. */
const PLACES: Readonly<Record<string, (spans: Spans, value: () => unknown) => void>> = {
  "the agent's answer": ({ agent }, value) => set(agent, 'gen_ai.output.messages', value()),
  "a model's input": ({ model }, value) => set(model, 'gen_ai.input.messages', value()),
  "a tool's arguments and result": ({ tool }, value) => {
    set(tool, 'gen_ai.tool.call.arguments', value())
    set(tool, 'gen_ai.tool.call.result', value())
  },
  'finish reasons': ({ model }, value) => set(model, 'gen_ai.response.finish_reasons', value()),
  'the tools, of a span whose status cannot be read': ({ call }, value) => {
    set(call, 'ai.prompt.tools', value())
    const message = new Proxy({}, { get: () => expect.fail('read') })
    Object.defineProperty(call, 'status', { value: { code: 2, message } })
  },
  'the calls, of a span with an event that cannot be read': ({ call }, value) => {
    const attributes = {
      get a() {
        throw new Error('unreadable')
      },
    }
    Reflect.get(call, 'events').push({ name: 'x', time: [0, 0], attributes })
    set(call, 'ai.response.toolCalls', value())
  },
  'the events of a span': ({ model }, value) => Object.defineProperty(model, 'events', { value: value() }),
  'an attribute behind one that throws': ({ model }, value) => {
    Object.defineProperty(Reflect.get(model, 'attributes') as object, 'a', {
      enumerable: true,
      get: () => {
        throw new Error('unreadable')
      },
    })
    set(model, 'gen_ai.output.messages', value())
  },
  'the arguments of a call in a log record': ({ model, log }, value) => {
    const call = { id: 'c', type: 'function', function: { name: 't', arguments: value() } }
    log(model, { index: 0, message: { tool_calls: [call] } })
  },
  'the content of a log record': ({ model, log }, value) => log(model, { index: 0, message: { content: value() } }),
  'the content of an event': ({ model }, value) => {
    const attributes = { content: value(), role: 'user' }
    Reflect.get(model, 'events').push({ name: 'gen_ai.user.message', time: [0, 0], attributes })
  },
  'the body of a log record': ({ model, log }, value) => log(model, value()),
}

interface Spans {
  readonly agent: Span
  readonly model: Span
  readonly tool: Span
  /** A model call of the AI SDK. */
  readonly call: Span
  readonly log: (span: Span, body: unknown) => void
}

test.each(
  Object.keys(ENDLESS).flatMap((what) =>
    Object.keys(PLACES).flatMap((where) => [true, false].map((by) => [what, where, by] as const)),
  ),
)(
  '%s as %s, with an agent: %s, keeps nothing busy',
  async (what, where, hasAgent) => {
    const value = ENDLESS[what]
    if (value === undefined) throw new Error('expected a value')
    const scoring = new ScoringSpanProcessor({
      scorers: [createAnswerPresentScorer(), createLoopScorer(), createToolErrorsScorer(), createToolArgumentsScorer()],
      stripContent: true,
      next: { onStart() {}, onEnd() {}, forceFlush: async () => {}, shutdown: async () => {} },
      settleMs: 0,
    })
    const tracer = new BasicTracerProvider({ spanProcessors: [scoring] }).getTracer('agents')
    const before = process.threadCpuUsage()
    const agent = open(tracer, 'invoke_agent a', hasAgent ? agentAttributes('a') : {})
    const model = open(tracer, 'chat', { 'gen_ai.operation.name': 'chat' }, agent)
    const tool = open(
      tracer,
      'execute_tool t',
      { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 't' },
      agent,
    )
    const call = open(
      tracer,
      'ai.generateText.doGenerate',
      {
        'ai.operationId': 'ai.generateText.doGenerate',
        'ai.prompt.messages': '[{"role":"user","content":"Hi"}]',
        'ai.response.toolCalls': '[{"toolName":"t","args":{},"toolCallId":"1"}]',
      },
      agent,
    )
    const log = (span: Span, body: unknown): void =>
      scoring.logRecordProcessor.onEmit({
        hrTime: [1, 0],
        spanContext: span.spanContext(),
        instrumentationScope: { name: 'agents' },
        attributes: {},
        eventName: 'gen_ai.choice',
        body,
      })
    PLACES[where]?.({ agent, model, tool, call, log }, value)
    for (const span of [tool, model, call, agent]) span.end()
    await scoring.forceFlush()
    await scoring.shutdown()
    const { user, system } = process.threadCpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(2000)
    expectBalanced(scoring.ledger())
  },
  20_000,
)
