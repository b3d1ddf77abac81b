import { expect, it } from 'vitest'

import { sourceSpan } from '../../../test/fixtures/source-span.ts'
import type { SourceSpan } from '../../spans/source-span.ts'
import { buildRuns } from '../build-runs.ts'

const AGENT = { 'gen_ai.operation.name': 'invoke_agent' }
const WORKFLOW = { 'gen_ai.operation.name': 'invoke_workflow' }
const CHAT = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' }
const TOOL = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' }
const UNNAMED_TOOL = { 'gen_ai.operation.name': 'execute_tool' }

type Attributes = SourceSpan['attributes']

/** Spans of which each is below the one before, with another one at each depth. */
function chain(count: number, top: Attributes, link: Attributes, leaf: Attributes): SourceSpan[] {
  return Array.from({ length: count / 2 }, (_, depth) => [
    sourceSpan({
      spanId: `s${depth}`,
      parentSpanId: depth === 0 ? undefined : `s${depth - 1}`,
      attributes: depth === 0 ? top : link,
      startTimeMs: depth,
      endTimeMs: 1e6 - depth,
    }),
    sourceSpan({
      spanId: `l${depth}`,
      parentSpanId: `s${depth}`,
      attributes: leaf,
      startTimeMs: depth,
      endTimeMs: depth + 1,
    }),
  ]).flat()
}

/** A model call that asks for tools, whose spans have no names. */
function calls(count: number): SourceSpan[] {
  const parts = Array.from({ length: count }, (_, index) => ({
    type: 'tool_call',
    name: 'search',
    arguments: { index },
  }))
  return [
    sourceSpan({ spanId: 'agent', attributes: AGENT, endTimeMs: 1e6 }),
    sourceSpan({
      spanId: 'chat',
      parentSpanId: 'agent',
      attributes: { ...CHAT, 'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts }]) },
    }),
    ...Array.from({ length: count }, (_, index) =>
      sourceSpan({
        spanId: `t${index}`,
        parentSpanId: 'agent',
        attributes: { ...UNNAMED_TOOL, 'gen_ai.tool.call.arguments': JSON.stringify({ index }) },
        startTimeMs: 10 + index,
      }),
    ),
  ]
}

/** Milliseconds of processor time for all that a scorer reads of the runs. */
function readingMs(spans: readonly SourceSpan[]): number {
  const before = process.threadCpuUsage()
  for (const run of buildRuns(spans)) {
    expect(run.missing).toBeDefined()
    for (const call of run.toolCalls) void call.agentName
  }
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

function leastMs(make: (count: number) => SourceSpan[], count: number): number {
  return Math.min(...Array.from({ length: 3 }, () => readingMs(make(count))))
}

it.each<[string, (count: number) => SourceSpan[]]>([
  ['model calls at each depth of a chain of tools', (count) => chain(count, TOOL, TOOL, CHAT)],
  ['tools at each depth of a chain of model calls', (count) => chain(count, TOOL, CHAT, TOOL)],
  ['tools at each depth of a chain of workflows', (count) => chain(2 * count, AGENT, WORKFLOW, TOOL)],
  ['tools without names', (count) => calls(count / 2)],
])('Runs are read in time in proportion to their spans: %s', { timeout: 60_000 }, (_, make) => {
  leastMs(make, 3000)
  // There are eight times as many spans; to look at all others for each would take 64 times as long.
  expect(leastMs(make, 24_000) / leastMs(make, 3000)).toBeLessThan(24)
})
