import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { expect, it } from 'vitest'
import { loadLibrary } from '../../test/corpus/load.ts'
import { readRuns } from './read-runs.ts'

setFlagsFromString('--expose-gc')
// Otherwise the heap that is measured would be mostly garbage.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the function that the flag exposes
const collectGarbage = runInNewContext('gc') as () => void

it('holds no more than its window, however much it reads', { timeout: 120_000 }, async () => {
  const texts = loadLibrary('ai-7.0.173-otel')
    .slice(0, 20)
    .map((scenario) => JSON.stringify(scenario.traces))
  const targetBytes = 32 * 1024 * 1024
  async function* generate(): AsyncGenerator<Uint8Array> {
    for (let index = 0, written = 0; written < targetBytes; index++) {
      const text = texts.at(index % texts.length) ?? ''
      const tag = index.toString(16).padStart(12, '0')
      const line = `${text.replaceAll(/("traceId":"[0-9a-f]{20})[0-9a-f]{12}/g, `$1${tag}`)}\n`
      written += line.length
      yield Buffer.from(line)
    }
  }
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  let highest = 0
  let count = 0
  for await (const _ of readRuns({ name: 'large', bytes: generate() }, { maxHeldBytes: 4 * 1024 * 1024 })) {
    if (count++ % 400 !== 0) continue
    collectGarbage()
    highest = Math.max(highest, process.memoryUsage().heapUsed - before)
  }
  expect(count).toBeGreaterThan(1000)
  expect(highest).toBeLessThan(targetBytes * 0.75)
})
