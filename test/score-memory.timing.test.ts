import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, expect, it } from 'vitest'

import { runCli } from '../cli/src/run-cli.ts'

const directory = mkdtempSync(join(tmpdir(), 'spanscore-score-memory-'))
afterAll(() => rmSync(directory, { recursive: true }))

setFlagsFromString('--expose-gc')
// Otherwise the heap that is measured would be mostly garbage.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the function that the flag exposes
const collectGarbage = runInNewContext('gc') as () => void

const config = join(directory, 'spanscore.config.ts')
writeFileSync(
  config,
  `import * as prebuilt from '${resolve('src/entries/scorers.ts')}'
const probe = prebuilt.createScorer({ id: 'probe', description: 'Measures the heap.', version: '1' })
  .generateScore(({ agentRun }) => globalThis.probeHeap(agentRun))
export default { scorers: [prebuilt.createAnswerPresentScorer(), prebuilt.createToolErrorsScorer(), probe] }
`,
)

const attribute = (key: string, value: string) => ({ key, value: { stringValue: value } })
const messages = (role: string, content: string) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])

/** One agent run as a line of OTLP/JSON, with ids and texts of its own. */
function lineOf(index: number): string {
  const id = index.toString(16).padStart(8, '0')
  const time = (milliseconds: number) => `${1_790_000_000_000 + index * 10 + milliseconds}000000`
  const span = {
    traceId: `${'ab'.repeat(12)}${id}`,
    spanId: `${'cd'.repeat(4)}${id}`,
    name: 'invoke_agent',
    startTimeUnixNano: time(0),
    endTimeUnixNano: time(5),
    attributes: [
      attribute('gen_ai.operation.name', 'invoke_agent'),
      attribute('gen_ai.agent.name', 'weather-agent'),
      attribute('gen_ai.input.messages', messages('user', `Question ${index}`)),
      attribute('gen_ai.output.messages', messages('assistant', index % 3 === 0 ? '' : `Answer ${index}`)),
    ],
  }
  return `${JSON.stringify({ resourceSpans: [{ scopeSpans: [{ scope: { name: 'loop' }, spans: [span] }] }] })}\n`
}

/** Spans of something else, of 70 MB together: more than the 64 MiB that are held before spans go to a temporary file. */
function* ordinarySpans(): Generator<string> {
  const attributes = [attribute('body', 'x'.repeat(10_000_000))]
  for (let index = 0; index < 7; index++) {
    const span = { traceId: 'ef'.repeat(16), spanId: `0${index}`.repeat(8), name: 'GET /', attributes }
    yield `${JSON.stringify({ resourceSpans: [{ scopeSpans: [{ scope: { name: 'http' }, spans: [span] }] }] })}\n`
  }
}

/** Runs in the file, and how many of them are scored before the heap is measured: several batches of spans. */
const RUNS = 24_000
const MEASURED = { from: 6_000, every: 1_500, to: 21_000 }

it.each([
  ['its table', []],
  ['--json and --out', ['--json', '--out', join(directory, 'scores.jsonl')]],
])('spanscore score with %s keeps nothing of the runs that it has scored', { timeout: 120_000 }, async (_, options) => {
  const heaps: number[] = []
  let scored = 0
  Reflect.set(globalThis, 'probeHeap', () => {
    scored++
    if (scored < MEASURED.from || scored > MEASURED.to || scored % MEASURED.every !== 0) return 1
    collectGarbage()
    heaps.push(process.memoryUsage().heapUsed)
    return 1
  })
  const stdin = Readable.from(
    (function* () {
      for (const line of ordinarySpans()) yield Buffer.from(line)
      for (let index = 0; index < RUNS; index++) yield Buffer.from(lineOf(index))
    })(),
  )
  const argv = ['score', '-', '--config', config, ...options]
  expect(await runCli(argv, { stdin, stdout: sink(), stderr: sink(), environment: {} })).toBe(0)
  expect(scored).toBe(RUNS)

  // The heap goes up and down with the batches of spans, by a few megabytes.
  const [before, after] = [mean(heaps.slice(0, 3)), mean(heaps.slice(-3))]
  // Evaluations that are kept take about three times as much.
  expect(after - before).toBeLessThan((heaps.length - 3) * MEASURED.every * 250)
})

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

/** A stream that drops what is written. */
function sink(): Writable & { readonly isTTY: boolean; readonly columns: number } {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done() })
  return Object.assign(stream, { isTTY: false, columns: 100 })
}
