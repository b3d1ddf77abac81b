import { expect, it } from 'vitest'

import type { EndedSpan } from '../../spans/sdk-types.ts'
import { viewOf } from './span-view.ts'

const spanNamed = (name: string, attributes: Readonly<Record<string, unknown>>): EndedSpan =>
  ({
    name,
    attributes,
    spanContext: () => ({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 }),
    status: { code: 0 },
    events: [],
    links: [],
    instrumentationScope: { name: 'an application' },
  }) as unknown as EndedSpan

const nameOf = (name: string, attributes: Readonly<Record<string, unknown>>): string =>
  viewOf(spanNamed(name, attributes), { stripContent: true }).name

it('removes content from the name of a span, as an instrumentation of CrewAI builds it', () => {
  const description = 'What is the weather in Oslo?'
  expect(nameOf(`${description}.task`, { 'crewai.task.description': description })).toBe('[removed].task')
  expect(nameOf(`tool ${description}`, { 'gen_ai.tool.call.result': description })).toBe('tool [removed]')
})

it('keeps names that hold no content, and what other attributes show anyway', () => {
  const tool = 'weather-lookup'
  expect(nameOf('execute_tool t', { 'gen_ai.tool.call.result': 't' })).toBe('execute_tool t')
  expect(nameOf(`execute_tool ${tool}`, { 'gen_ai.tool.name': tool, 'gen_ai.tool.call.arguments': tool })).toBe(
    `execute_tool ${tool}`,
  )
  const span = spanNamed('What is the weather?', { 'gen_ai.tool.call.result': 'What is the weather?' })
  expect(viewOf(span, { stripContent: false })).toBe(span)
})
