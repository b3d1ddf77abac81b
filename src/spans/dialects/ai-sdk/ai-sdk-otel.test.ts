import { expect, it } from 'vitest'

import { sourceSpan } from '../../../../test/fixtures/source-span.ts'
import { buildRuns } from '../../../runs/build-runs.ts'

it.each([
  ['a completed call', { 'gen_ai.response.finish_reasons': ['stop'] }, ''],
  ['one that was aborted', {}, undefined],
])('reads a message without parts as an empty answer of %s', (_, more, output) => {
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"Q"}]}]',
    'gen_ai.output.messages': '[{"role":"assistant","parts":[],"finish_reason":"stop"}]',
    ...more,
  }
  const [run] = buildRuns([
    sourceSpan({
      spanId: 'a',
      scope: { name: 'gen_ai' },
      attributes: { ...attributes, 'gen_ai.operation.name': 'invoke_agent' },
    }),
    sourceSpan({ spanId: 'b', parentSpanId: 'a', scope: { name: 'gen_ai' }, attributes }),
  ])
  expect(run?.output).toBe(output)
  expect(run?.missing.some(({ what }) => what === 'output')).toBe(false)
})
