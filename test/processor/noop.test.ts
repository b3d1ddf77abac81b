import { readFileSync } from 'node:fs'

import { diag } from '@opentelemetry/api'
import { expect, test, vi } from 'vitest'

import * as adapters from '../../src/entries/adapters.ts'
import * as main from '../../src/entries/main.ts'
import * as noop from '../../src/entries/noop.ts'

test('the entry for edge runtimes and browsers has the names of those that it replaces', () => {
  expect(Object.keys(noop).toSorted()).toEqual(Object.keys({ ...main, ...adapters }).toSorted())
})

test('every entry that an application imports is replaced by it there', () => {
  const { exports }: { exports: Record<string, Record<string, unknown>> } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  )
  // `register` is for `node --import`, `engine` for the service, and the others are for tools and tests.
  const forNode = ['./register', './engine', './runs', './testing', './package.json']
  for (const [name, conditions] of Object.entries(exports)) {
    if (forNode.includes(name)) continue
    // The first condition that fits is taken: the default must come after these.
    expect([name, ...Object.keys(conditions)]).toEqual([name, 'edge-light', 'browser', 'types', 'default'])
    for (const runtime of ['edge-light', 'browser']) {
      expect(conditions[runtime]).toEqual({ types: conditions['types'], default: './dist/entries/noop.js' })
    }
  }
})

test('scorers can be made there, and put into options', () => {
  const { createScorer }: { createScorer: unknown } = noop
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this is its type in the package
  const make = createScorer as typeof main.createScorer
  expect(() => make({ id: 'a', description: 'x' }).generateScore(() => 1)).not.toThrow()
})

test('any number of copies, such as one for each route in a bundle, log one line together', async () => {
  const warn = vi.fn<(...words: unknown[]) => void>()
  diag.setLogger({ error: warn, warn, info: warn, debug() {}, verbose() {} })
  Reflect.deleteProperty(globalThis, Symbol.for('spanscore.unscored'))
  for (let copy = 0; copy < 3; copy++) {
    vi.resetModules()
    const { attachScoring } = await import('../../src/entries/noop.ts')
    attachScoring({ scorers: [] })
  }
  diag.disable()
  expect(warn.mock.calls).toEqual([['spanscore', expect.stringMatching(/^Nothing is scored in this runtime/)]])
})

test('it passes spans on, scores nothing, and loads nothing of Node.js', async () => {
  const seen: string[] = []
  const next = {
    onStart: () => void seen.push('start'),
    onEnding: () => void seen.push('ending'),
    onEnd: () => void seen.push('end'),
    forceFlush: async () => void seen.push('flush'),
    shutdown: async () => void seen.push('shutdown'),
  }
  const processor = new noop.ScoringSpanProcessor({ scorers: [], next })
  processor.onStart({} as never, {} as never)
  processor.onEnding({} as never)
  processor.onEnd({} as never)
  await processor.forceFlush()
  await processor.shutdown()
  expect(seen).toEqual(['start', 'ending', 'end', 'flush', 'shutdown'])
  expect(noop.attachScoring({ scorers: [] }).ledger().runs.seen).toBe(0)
  const loaded = /^import (?!type)(?!.*@opentelemetry\/api)(?!.*\/global-slot\.ts)/m
  expect(readFileSync('src/processor/attach/noop.ts', 'utf8')).not.toMatch(loaded)
  expect(readFileSync('src/scoring/global-slot.ts', 'utf8')).not.toMatch(/^import/m)
})
