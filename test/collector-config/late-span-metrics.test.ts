import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

import { COUNTERS } from '../../src/emit/gathered-sums.ts'

/** Late spans say nothing of these. */
const ONLY_FROM_THE_PROCESS = new Set(['traits', 'runs', 'feedback', 'conversations', 'tokens', 'cost'])

interface Made {
  readonly name: string
  readonly unit: string
  readonly description: string
  readonly sum?: object
}

test('The counters that the Collector makes of late spans are those of the library', () => {
  const file = resolve(import.meta.dirname, '../../collector-config/otel-collector.yaml')
  const { connectors } = parse(readFileSync(file, 'utf8')) as {
    connectors: { signal_to_metrics: { spans: readonly Made[] } }
  }
  const made = connectors.signal_to_metrics.spans.filter(({ sum }) => sum !== undefined)
  const ofLibrary = Object.entries(COUNTERS)
    .filter(([key]) => !ONLY_FROM_THE_PROCESS.has(key))
    .map(([, [name, unit, description]]) => `${name} (${unit}): ${description}`)
  expect(new Set(made.map(({ name, unit, description }) => `${name} (${unit}): ${description}`))).toEqual(
    new Set(ofLibrary),
  )
})
