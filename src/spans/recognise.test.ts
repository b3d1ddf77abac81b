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
  for (const signs of distinct(spans.flatMap(variantsOf))) {
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

/** The span with its own scope and with others, with all attributes, with each of them, and without any. */
function variantsOf({ scope, attributes, name }: (typeof spans)[number]): Signs[] {
  const single = Object.entries(attributes).map(([key, value]) => ({ [key]: value }))
  return [scope.name, 'my-app'].flatMap((each) =>
    [attributes, {}, ...single].flatMap((some): Signs[] => [
      [each, some, name],
      [each, some, ''],
    ]),
  )
}

/** One variant of each scope, first word of the name, and attributes with the beginnings of their values. */
function distinct(variants: readonly Signs[]): readonly Signs[] {
  const byKey = new Map<string, Signs>()
  for (const variant of variants) {
    const [scope, attributes, name] = variant
    const values = Object.entries(attributes).map(([key, value]) => `${key}=${String(value).slice(0, 20)}`)
    byKey.set([scope, name.split(/[ .:[]/, 1)[0], ...values].join('\n'), variant)
  }
  return [...byKey.values()]
}

function firstOfAll(signs: Signs): Dialect | undefined {
  return allDialects.find((dialect) => dialect.recognises(...signs))
}
