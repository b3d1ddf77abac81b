import { ROOT_CONTEXT, trace, TraceFlags } from '@opentelemetry/api'
import type { Attributes, Context, Span } from '@opentelemetry/api'
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'

import type { AgentRun } from '../../src/model/agent-run.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { buildRuns } from '../../src/runs/build-runs.ts'
import { defineScorer } from '../../src/scoring/define-scorer.ts'
import type { LedgerSnapshot } from '../../src/scoring/ledger.ts'
import { toSourceSpan } from '../../src/spans/from-sdk-span.ts'
import type { SdkSpanLike } from '../../src/spans/from-sdk-span.ts'

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

export interface ProgramResult {
  readonly live: readonly AgentRun[]
  readonly file: readonly AgentRun[]
  readonly ledger: LedgerSnapshot
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
export async function runProgram({ spans, hooks }: Program): Promise<ProgramResult> {
  const live = new Map<string, AgentRun>()
  const exporter = new InMemorySpanExporter()
  let scores = 0
  const scoring = new ScoringSpanProcessor({
    scorers: [
      defineScorer({
        id: 'seen',
        description: 'Another score each time, so that a run which is read again is given again.',
        kind: 'code',
        assess: () => ({ status: 'scored', value: (scores += 1) % 2 }),
      }),
    ],
    settleMs: 60_000,
    emit: { attributes: false, events: false, lateSpans: 'never', metrics: false },
    onScore: (_, run) => live.set(run.id, run),
  })
  let [spanIds, traceOf] = [0, 0]
  const newSpanId = (): string => (spanIds += 1).toString(16).padStart(16, '0')
  const traceId = (): string => (traceOf + 1).toString(16).padStart(32, '0')
  const provider = new NodeTracerProvider({
    idGenerator: { generateTraceId: traceId, generateSpanId: newSpanId },
    spanProcessors: [scoring, new SimpleSpanProcessor(exporter)],
  })
  const started = new Map<number, Span>()
  let nowMs = Date.now()
  for (const [hook, at] of hooks) {
    nowMs += 10
    const span = spans[at]!
    if (hook === 'end') {
      const open = started.get(at)!
      open.setAttributes(span.endAttributes ?? {})
      open.end(nowMs)
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
  await scoring.shutdown()
  const exported: readonly SdkSpanLike[] = exporter.getFinishedSpans()
  return {
    live: [...live.values()],
    file: buildRuns(exported.map((span) => toSourceSpan(span))),
    ledger: scoring.ledger(),
  }
}

function contextOf(parent: Span | undefined, by: ProgramSpan['by'] = 'object'): Context {
  if (parent === undefined) return ROOT_CONTEXT
  if (by === 'object') return trace.setSpan(ROOT_CONTEXT, parent)
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent.spanContext(), ...(by === 'remote' && { isRemote: true }) })
}

/** The content of runs, for comparison: by start, without what only the process or only the file can know. */
export function factsOf(runs: readonly AgentRun[]): unknown {
  return runs
    .toSorted((left, right) => left.startTimeMs - right.startTimeMs)
    .map((run) => {
      const json: Record<string, unknown> = JSON.parse(JSON.stringify(run))
      delete json['complete']
      delete json['revision']
      return { ...json, children: factsOf(run.children) }
    })
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
