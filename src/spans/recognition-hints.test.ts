import { expect, test } from 'vitest'

import { scopeKindOf } from './recognition-hints.ts'

test.each([
  ['@opentelemetry/instrumentation-http', 'ordinary'],
  ['@opentelemetry/instrumentation-pg', 'ordinary'],
  ['@opentelemetry/instrumentation-openai', 'library'],
  ['@opentelemetry/instrumentation-aws-sdk', 'unknown'],
  ['my-app', 'unknown'],
  ['gen_ai', 'library'],
])('the scope %s is %s', (scope, kind) => {
  expect(scopeKindOf(scope)).toBe(kind)
})
