import { ROOT_CONTEXT, trace, TraceFlags } from '@opentelemetry/api'
import type { Attributes, Context, Span } from '@opentelemetry/api'
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

import type { AgentRun } from '../../src/model/agent-run.ts'
import { Noting } from '../corpus/play.ts'
import type { Played } from '../corpus/play.ts'
import type { Product } from '../corpus/product.ts'

/** A span that a program writes. */
export interface ProgramSpan {
  /** `unseen`: a span that no processor of this process sees, such as one of another provider. */
  readonly kind: 'agent' | 'entry' | 'evaluator' | 'tool' | 'chat' | 'ordinary' | 'unseen'
  /** The place of its parent in the program. */
  readonly parent?: number | undefined
  /** Whether the parent is named by its object, by its ids, or by its ids as a parent in another process. */
  readonly by?: 'object' | 'ids' | 'remote'
  /** @default 0 */
  readonly trace?: number
  readonly attributes?: Attributes
  /** Whether the attributes are set right after the start. */
  readonly isSetLater?: boolean
  /** Attributes that are set right before the span ends. */
  readonly endAttributes?: Attributes
  /** The name of the instrumentation. @default 'app' */
  readonly scope?: string
}

/** The starts and the ends of the spans, in their order. */
export type ProgramHooks = readonly (readonly ['start' | 'end', number])[]

export interface Program {
  readonly spans: readonly ProgramSpan[]
  readonly hooks: ProgramHooks
}

const OPERATIONS: Readonly<Record<ProgramSpan['kind'], string | undefined>> = {
  agent: 'invoke_agent',
  entry: 'invoke_workflow',
  evaluator: 'evaluation',
  tool: 'execute_tool',
  chat: 'chat',
  ordinary: undefined,
  unseen: undefined,
}

/** Runs a program with a real tracer provider: the runs that were scored, and those in a file of the exported spans. */
export async function runProgram(product: Product, { spans, hooks }: Program): Promise<Played> {
  const noting = new Noting(product, 60_000)
  let [spanIds, traceOf] = [0, 0]
  const newSpanId = (): string => (spanIds += 1).toString(16).padStart(16, '0')
  const traceId = (): string => (traceOf + 1).toString(16).padStart(32, '0')
  const provider = new TracerProvider({
    idGenerator: { generateTraceId: traceId, generateSpanId: newSpanId },
    spanProcessors: [noting.scoring, new SimpleSpanProcessor({ exporter: noting.exporter })],
  })
  const started = new Map<number, Span>()
  let nowMs = 1_790_000_000_000
  for (const [hook, at] of hooks) {
    nowMs += 10
    const span = spans[at]!
    if (hook === 'end') {
      const open = started.get(at)!
      open.setAttributes(span.endAttributes ?? {})
      noting.hook = { spanId: open.spanContext().spanId, hook: 'e' }
      open.end(nowMs)
      noting.hook = undefined
      continue
    }
    traceOf = span.trace ?? 0
    const parent = span.parent === undefined ? undefined : started.get(span.parent)!
    if (span.kind === 'unseen') {
      const context = { traceId: traceId(), spanId: newSpanId(), traceFlags: TraceFlags.SAMPLED }
      started.set(at, trace.wrapSpanContext(context))
      continue
    }
    const operation = OPERATIONS[span.kind]
    const attributes = { ...(operation !== undefined && { 'gen_ai.operation.name': operation }), ...span.attributes }
    const tracer = provider.getTracer(span.scope ?? 'app')
    const options = { startTime: nowMs, ...(span.isSetLater !== true && { attributes }) }
    started.set(at, tracer.startSpan(span.kind, options, contextOf(parent, span.by)).setAttributes(attributes))
  }
  return noting.end()
}

function contextOf(parent: Span | undefined, by: ProgramSpan['by'] = 'object'): Context {
  if (parent === undefined) return ROOT_CONTEXT
  if (by === 'object') return trace.setSpan(ROOT_CONTEXT, parent)
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent.spanContext(), ...(by === 'remote' && { isRemote: true }) })
}

/** The agent of each run, or the answer if it has no agent, with its tools, and its children after it. */
export function outlineOf(runs: readonly AgentRun[]): unknown {
  return runs
    .toSorted((left, right) => left.startTimeMs - right.startTimeMs)
    .map((run) => [
      run.agent.name ?? run.output,
      ...run.toolCalls.map(({ name }) => name),
      ...(run.children.length === 0 ? [] : [outlineOf(run.children)]),
    ])
}

/** A conversation's model calls, as attributes. */
export function said(question: string, answer: string, more: Attributes = {}): Attributes {
  return {
    'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: question }] }]),
    'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: answer }] }]),
    ...more,
  }
}
