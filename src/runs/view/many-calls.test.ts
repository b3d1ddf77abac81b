import { expect, it } from 'vitest'

import { sourceSpan } from '../../../test/fixtures/source-span.ts'
import { reconstructRuns } from '../build-runs.ts'

it('explains what thousands of calls of one model call lack within a moment', () => {
  const attributes: Record<string, unknown> = { 'gen_ai.system': 'openai', 'gen_ai.request.model': 'a-model' }
  attributes['gen_ai.operation.name'] = 'chat'
  for (let index = 0; index < 4000; index++) {
    attributes[`gen_ai.completion.0.tool_calls.${index}.id`] = `call_${index}`
    attributes[`gen_ai.completion.0.tool_calls.${index}.name`] = 'weather'
  }
  const scope = { name: 'opentelemetry.instrumentation.openai.v1' }
  const [run] = reconstructRuns([sourceSpan({ name: 'openai.chat', scope, attributes })])
  const before = process.cpuUsage()
  expect(run?.missing.filter(({ what }) => what.endsWith('.arguments'))).toHaveLength(4000)
  const { user, system } = process.cpuUsage(before)
  // When each call looked at all attributes, this took more than a minute.
  expect((user + system) / 1000).toBeLessThan(2000)
})
