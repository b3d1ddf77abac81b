import { randomBytes } from 'node:crypto'

/** A call of a tool in a made run. */
export interface MadeCall {
  readonly name: string
  readonly arguments: unknown
  readonly result?: unknown
  readonly error?: string
  /** The run of another agent that the tool starts. */
  readonly child?: MadeRun
}

/** A run as an instrumentation would record it, described by its messages and tool calls. */
export interface MadeRun {
  readonly agent: string
  readonly version?: string
  readonly user?: string
  readonly conversation?: string
  readonly model?: string
  readonly system?: string
  readonly history?: readonly (readonly [role: string, text: string])[]
  readonly question: string
  readonly calls?: readonly MadeCall[]
  readonly answer: string
  readonly tools?: readonly { readonly name: string; readonly parameters: unknown }[]
  readonly durationMs?: number
}

export interface RecordedRun {
  readonly traceId: string
  readonly runId: string
  /** In the order in which they end. */
  readonly spans: readonly { readonly spanId: string }[]
}

const text = (key: string, value: string) => ({ key, value: { stringValue: value } })
const json = (key: string, value: unknown) => text(key, JSON.stringify(value))
const int = (key: string, value: number) => ({ key, value: { intValue: String(value) } })
const said = (role: string, content: string) => ({ role, parts: [{ type: 'text', content }] })

/** Writes a run as spans with the attributes of the GenAI semantic conventions. */
export function record(run: MadeRun, startMs: number, traceId: string = randomBytes(16).toString('hex')): RecordedRun {
  const spans: { readonly spanId: string }[] = []
  const top = write(run, startMs, traceId, undefined, spans)
  return { traceId, runId: `${traceId}:${top}`, spans }
}

function write(
  run: MadeRun,
  startMs: number,
  traceId: string,
  parent: string | undefined,
  spans: { spanId: string }[],
): string {
  const agentSpan = randomBytes(8).toString('hex')
  const { calls = [], model = 'gpt-5-mini', durationMs = 1800, history = [] } = run
  const put = (
    name: string,
    spanId: string,
    parentSpanId: string | undefined,
    fromMs: number,
    tookMs: number,
    attributes: unknown[],
    error?: string,
  ) =>
    spans.push(
      Object.assign(
        {
          traceId,
          spanId,
          name,
          kind: 1,
          startTimeUnixNano: String(BigInt(Math.round(fromMs)) * 1_000_000n),
          endTimeUnixNano: String(BigInt(Math.round(fromMs + tookMs)) * 1_000_000n),
          attributes,
          status: error === undefined ? {} : { code: 2, message: error },
        },
        parentSpanId === undefined ? {} : { parentSpanId },
      ),
    )
  const asked: unknown[] = [...history.map(([role, content]) => said(role, content)), said('user', run.question)]
  const chat = (fromMs: number, tookMs: number, output: unknown, finish: string) =>
    put(`chat ${model}`, randomBytes(8).toString('hex'), agentSpan, fromMs, tookMs, [
      text('gen_ai.operation.name', 'chat'),
      text('gen_ai.request.model', model),
      text('gen_ai.response.model', model),
      json('gen_ai.input.messages', asked),
      json('gen_ai.output.messages', [output]),
      { key: 'gen_ai.response.finish_reasons', value: { arrayValue: { values: [{ stringValue: finish }] } } },
      int('gen_ai.usage.input_tokens', 420 + asked.length * 80),
      int('gen_ai.usage.output_tokens', 60 + run.answer.length),
      ...(run.tools === undefined
        ? []
        : [
            json(
              'gen_ai.tool.definitions',
              run.tools.map((tool) => ({ type: 'function', ...tool })),
            ),
          ]),
    ])
  const stepMs = durationMs / (calls.length + 1)
  for (const [index, call] of calls.entries()) {
    const fromMs = startMs + index * stepMs
    const id = `call_${index + 1}`
    const part = { type: 'tool_call', id, name: call.name, arguments: call.arguments }
    chat(fromMs, stepMs * 0.6, { role: 'assistant', parts: [part], finish_reason: 'tool_call' }, 'tool_calls')
    asked.push(
      { role: 'assistant', parts: [part] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id, response: call.result ?? call.error }] },
    )
    const toolSpan = randomBytes(8).toString('hex')
    if (call.child !== undefined) write(call.child, fromMs + stepMs * 0.65, traceId, toolSpan, spans)
    put(
      `execute_tool ${call.name}`,
      toolSpan,
      agentSpan,
      fromMs + stepMs * 0.6,
      stepMs * 0.4,
      [
        text('gen_ai.operation.name', 'execute_tool'),
        text('gen_ai.tool.name', call.name),
        text('gen_ai.tool.call.id', id),
        json('gen_ai.tool.call.arguments', call.arguments),
        ...(call.result === undefined ? [] : [json('gen_ai.tool.call.result', call.result)]),
        ...(call.error === undefined
          ? []
          : [text('error.type', call.error.startsWith('payment') ? 'PaymentError' : 'TimeoutError')]),
      ],
      call.error,
    )
  }
  chat(startMs + calls.length * stepMs, stepMs, { ...said('assistant', run.answer), finish_reason: 'stop' }, 'stop')
  put(`invoke_agent ${run.agent}`, agentSpan, parent, startMs, durationMs, [
    text('gen_ai.operation.name', 'invoke_agent'),
    text('gen_ai.agent.name', run.agent),
    ...(run.version === undefined ? [] : [text('gen_ai.agent.version', run.version)]),
    ...(run.user === undefined ? [] : [text('user.id', run.user)]),
    ...(run.conversation === undefined ? [] : [text('gen_ai.conversation.id', run.conversation)]),
    ...(run.system === undefined ? [] : [json('gen_ai.system_instructions', [{ type: 'text', content: run.system }])]),
    json('gen_ai.input.messages', [
      ...history.map(([role, content]) => said(role, content)),
      said('user', run.question),
    ]),
    json('gen_ai.output.messages', [said('assistant', run.answer)]),
  ])
  return agentSpan
}

/** An OTLP/JSON request with these spans. */
export function otlp(spans: readonly unknown[], service: string): unknown {
  return {
    resourceSpans: [
      {
        resource: { attributes: [text('service.name', service)] },
        scopeSpans: [{ scope: { name: 'shop-agents' }, spans }],
      },
    ],
  }
}
