import { expect, test } from 'vitest'

import { libraryNames, loadLibrary, readScenario } from '../../test/corpus/load.ts'
import { recognise } from './recognise.ts'
import { mayBeRecognised, scopeKindOf } from './recognition-hints.ts'

const spans = libraryNames()
  .flatMap(loadLibrary)
  .flatMap((scenario) => readScenario(scenario).spans)

test('every recorded span that a dialect recognises is found', () => {
  const missed = spans.filter(({ scope, attributes, name }) => {
    if (recognise(scope.name, attributes, name) === undefined) return false
    const kind = scopeKindOf(scope.name)
    return kind === 'ordinary' || (kind === 'unknown' && !mayBeRecognised(attributes, name))
  })
  expect(spans.length).toBeGreaterThan(100)
  expect(missed.map(({ scope, name }) => `${scope.name}: ${name}`)).toEqual([])
})

test('every span that is recognised by its attributes alone is found in any scope', () => {
  const missed = spans.filter(
    ({ attributes, name }) => recognise('my-app', attributes, name) !== undefined && !mayBeRecognised(attributes, name),
  )
  expect(missed.map(({ scope, name }) => `${scope.name}: ${name}`)).toEqual([])
})

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

test('spans of HTTP and databases are recognised by their attributes too', () => {
  expect(
    mayBeRecognised(
      { 'http.request.method': 'GET', 'url.path': '/', 'db.system': 'pg', 'messaging.system': 'x' },
      'GET /',
    ),
  ).toBe(false)
})
