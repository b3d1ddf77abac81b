import { expect, it } from 'vitest'

import { reconstructRuns } from '../build-runs.ts'

it('explains what thousands of calls of one model call lack within a moment', () => {
  const attributes: Record<string, unknown> = { 'gen_ai.system': 'openai', 'gen_ai.request.model': 'a-model' }
  attributes['gen_ai.operation.name'] = 'chat'
  for (let index = 0; index < 4000; index++) {
    attributes[`gen_ai.completion.0.tool_calls.${index}.id`] = `call_${index}`
    attributes[`gen_ai.completion.0.tool_calls.${index}.name`] = 'weather'
  }
  const [run] = reconstructRuns([
    {
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: 'b7ad6b7169203331',
      name: 'openai.chat',
      kind: 3,
      scope: { name: 'opentelemetry.instrumentation.openai.v1' },
      attributes,
      events: [],
      status: { code: 'unset' },
      startTimeMs: 1,
      endTimeMs: 2,
      resource: {},
      droppedAttributesCount: 0,
    },
  ])
  const before = process.cpuUsage()
  expect(run?.missing.filter(({ what }) => what.endsWith('.arguments'))).toHaveLength(4000)
  const { user, system } = process.cpuUsage(before)
  // When each call looked at all attributes, this took more than a minute.
  expect((user + system) / 1000).toBeLessThan(2000)
})
