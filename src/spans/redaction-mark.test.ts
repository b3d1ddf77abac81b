import { expect, test } from 'vitest'

import { sourceSpan } from '../../test/fixtures/source-span.ts'
import { buildRuns } from '../runs/build-runs.ts'
import { isRedactionMark } from './redaction-mark.ts'

const kind = (name: string, rest: object) => ({ attributes: { 'openinference.span.kind': name, ...rest } })

const chat = (spanId: string, reason: string) =>
  sourceSpan({
    spanId,
    traceId: spanId.repeat(32),
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm',
      'gen_ai.response.finish_reasons': [reason],
      'gen_ai.input.messages': '[REDACTED]',
      'gen_ai.output.messages': '[REDACTED]',
    },
  })

test.each([
  '[REDACTED]',
  '<redacted>',
  '__REDACTED__',
  '[Filtered]',
  '{{ redacted }}',
  'REDACTED',
  '[REDACTED: email]',
  '****',
  '███',
])('%s takes the place of content', (mark) => expect(isRedactionMark(mark)).toBe(true))

test.each([
  'Hidden',
  'removed',
  '[draft] removed',
  'The name was redacted.',
  '[1, 2]',
  '*',
  '',
  '**bold**',
  17,
  undefined,
])('%j is content', (content) => expect(isRedactionMark(content)).toBe(false))

test('An answer, arguments and a result that another processor replaced are missing, and are not what was said', () => {
  const hidden = { 'input.value': '[REDACTED]', 'output.value': '[REDACTED]' }
  const [run] = buildRuns([
    sourceSpan({ spanId: 'a', ...kind('AGENT', hidden) }),
    sourceSpan({ spanId: 't', parentSpanId: 'a', ...kind('TOOL', { 'tool.name': 'search', ...hidden }) }),
  ])
  expect([run?.userInput, run?.output, run?.content]).toEqual([undefined, undefined, 'none'])
  const [call] = run?.toolCalls ?? []
  expect([call?.name, call?.arguments, call?.result]).toEqual(['search', undefined, undefined])
  expect(run?.missing).toContainEqual({ what: 'output', why: 'redacted' })
})

test('Model calls in traces of their own whose messages were replaced are runs of which no calls are known', () => {
  const runs = buildRuns([chat('1', 'tool_calls'), chat('2', 'stop')])
  expect(runs.map(({ missing }) => missing.find(({ what }) => what === 'toolCalls')?.why)).toEqual([
    'redacted',
    'redacted',
  ])
})
