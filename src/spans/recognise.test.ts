import { expect, test } from 'vitest'

import { libraryNames, loadLibrary, readScenario } from '../../test/corpus/load.ts'
import { allDialects } from './dialects/all.ts'
import type { Dialect } from './dialect.ts'
import { recognise, scopeKindOf } from './recognise.ts'

type Signs = Parameters<typeof recognise>

const spans = libraryNames()
  .flatMap(loadLibrary)
  .flatMap((scenario) => readScenario(scenario).spans)

test('the dialects that are asked include every one that recognises the span', () => {
  const differing = new Set<string>()
  for (const signs of variants()) {
    const [scope, attributes, name] = signs
    const found = recognise(scope, attributes, name)?.name
    const expected = firstOfAll(signs)?.name
    if (found !== expected) differing.add(`${scope} ${name} ${Object.keys(attributes).join(' ')}: ${found} ${expected}`)
  }
  expect(spans.length).toBeGreaterThan(100)
  expect([...differing]).toEqual([])
})

test('no recorded span that a dialect recognises has an ordinary scope', () => {
  const missed = spans.filter(
    ({ scope, attributes, name }) =>
      scopeKindOf(scope.name) === 'ordinary' && recognise(scope.name, attributes, name) !== undefined,
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

test('spans of HTTP and databases are not recognised', () => {
  const attributes = { 'http.request.method': 'GET', 'url.path': '/', 'db.system': 'pg', 'messaging.system': 'x' }
  expect(recognise('my-app', attributes, 'GET /')).toBeUndefined()
})

/**
 * Each span with its own scope and with another, with its name and without, with all attributes, with each of them, and with none: one
 * variant of each scope, first word of the name, and attributes with the beginnings of their values.
 */
function variants(): Iterable<Signs> {
  const byKey = new Map<string, Signs>()
  for (const { scope, attributes, name } of spans) {
    const single = Object.entries(attributes).map(([key, value]) => ({ [key]: value }))
    for (const some of [attributes, {}, ...single]) {
      const values = Object.entries(some).map(([key, value]) => `${key}=${String(value).slice(0, 20)}`)
      const start = values.join('\n')
      for (const each of [scope.name, 'my-app']) {
        byKey.set([each, name.split(/[ .:[]/, 1)[0], start].join('\n'), [each, some, name])
        byKey.set([each, '', start].join('\n'), [each, some, ''])
      }
    }
  }
  return byKey.values()
}

function firstOfAll(signs: Signs): Dialect | undefined {
  return allDialects.find((dialect) => dialect.recognises(...signs))
}
