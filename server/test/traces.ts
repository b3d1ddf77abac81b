import { randomBytes } from 'node:crypto'

/** The spans of one run of an agent with one tool, as an OTLP/JSON request for each span, in the order in which they end. */
export interface MadeRun {
  readonly traceId: string
  readonly agentSpanId: string
  readonly requests: readonly unknown[]
  readonly spans: readonly unknown[]
}

interface Made {
  readonly serviceName?: string
  readonly toolFails?: boolean
  readonly scope?: string
  readonly traceId?: string
  readonly agentSpanId?: string
  /** What the user says. */
  readonly text?: string
  /** The plan of the user, on the span of a request around the run. */
  readonly plan?: string
}

const message = (role: string, content: string) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])

const text = (key: string, value: string) => ({ key, value: { stringValue: value } })

export function makeRun({
  serviceName = 'weather-app',
  toolFails = false,
  scope = 'my-agents',
  traceId,
  agentSpanId,
  text: question = 'Weather in Oslo?',
  plan,
}: Made = {}): MadeRun {
  const trace = traceId ?? randomBytes(16).toString('hex')
  const agent = agentSpanId ?? randomBytes(8).toString('hex')
  const request = plan === undefined ? undefined : randomBytes(8).toString('hex')
  const startMs = Date.now() - 1000
  const span = (
    name: string,
    parentSpanId: string | undefined,
    attributes: unknown[],
    spanId = randomBytes(8).toString('hex'),
    failed = false,
  ) => ({
    traceId: trace,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind: 1,
    startTimeUnixNano: String(BigInt(startMs) * 1_000_000n),
    endTimeUnixNano: String(BigInt(startMs + 500) * 1_000_000n),
    attributes,
    status: failed ? { code: 2, message: 'boom' } : {},
  })
  const spans = [
    span('chat gpt', agent, [
      text('gen_ai.operation.name', 'chat'),
      text('gen_ai.request.model', 'gpt'),
      text('gen_ai.input.messages', message('user', question)),
      text(
        'gen_ai.output.messages',
        JSON.stringify([
          { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'weather', arguments: { city: 'Oslo' } }] },
        ]),
      ),
    ]),
    span(
      'execute_tool weather',
      agent,
      [
        text('gen_ai.operation.name', 'execute_tool'),
        text('gen_ai.tool.name', 'weather'),
        text('gen_ai.tool.call.id', 'c1'),
      ],
      undefined,
      toolFails,
    ),
    span(
      'invoke_agent weather-agent',
      request,
      [
        text('gen_ai.operation.name', 'invoke_agent'),
        text('gen_ai.agent.name', 'weather-agent'),
        text('gen_ai.input.messages', message('user', question)),
        text('gen_ai.output.messages', message('assistant', 'It rains.')),
      ],
      agent,
    ),
    ...(plan === undefined ? [] : [span('POST /chat', undefined, [text('app.plan', plan)], request)]),
  ]
  return {
    traceId: trace,
    agentSpanId: agent,
    spans,
    requests: spans.map((each) => toRequest([each], serviceName, scope)),
  }
}

export function toRequest(spans: readonly unknown[], serviceName = 'weather-app', scope = 'my-agents'): unknown {
  return {
    resourceSpans: [
      {
        resource: { attributes: [text('service.name', serviceName)] },
        scopeSpans: [{ scope: { name: scope }, spans }],
      },
    ],
  }
}

/** The same span, as written by a sender whose clock is wrong by this much. */
export function shifted(span: unknown, byMs: number): unknown {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a span of `makeRun`
  const { startTimeUnixNano, endTimeUnixNano, ...rest } = span as { startTimeUnixNano: string; endTimeUnixNano: string }
  const move = (time: string) => String(BigInt(time) + BigInt(byMs) * 1_000_000n)
  return { ...rest, startTimeUnixNano: move(startTimeUnixNano), endTimeUnixNano: move(endTimeUnixNano) }
}

/** Posts an OTLP/JSON request. @returns The status of the answer. */
export async function post(
  port: number,
  request: unknown,
  path = '/v1/traces',
  headers: Record<string, string> = {},
): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(request),
  })
  await response.arrayBuffer()
  return response.status
}

/** Waits until a condition is true. */
export async function until(holds: () => boolean, what: string, timeoutMs = 10_000): Promise<void> {
  const endMs = performance.now() + timeoutMs
  while (!holds()) {
    if (performance.now() > endMs) throw new Error(`Waited ${timeoutMs} ms for ${what}.`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
