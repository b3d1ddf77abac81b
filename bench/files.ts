import { spawn } from 'node:child_process'
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'

import { loadLibrary } from '../test/corpus/load.ts'
import { median } from './median.ts'
import type { Row } from './row.ts'

const MEGABYTE = 1_000_000
const SMALL_BYTES = 60 * MEGABYTE
const LARGE_BYTES = 180 * MEGABYTE
/** The runs of the large file take several times as much. */
const HEAP = '--max-old-space-size=192'

const USAGE =
  'data:text/javascript,process.on("exit",()=>process.stderr.write("\\nusage "+JSON.stringify(process.resourceUsage())))'

interface Usage {
  /** Processor time of user and system, in milliseconds. */
  readonly cpuMs: number
  readonly megabytes: number
}

/** What `spanscore score` takes with four code scorers on large files, beside `spanscore inspect` on the same. */
export async function fileCosts(rounds: number): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-bench-'))
  try {
    const [small, large, config] = [join(folder, 'small.jsonl'), join(folder, 'large.jsonl'), join(folder, 'c.mjs')]
    await writeTraces(small, SMALL_BYTES)
    await writeTraces(large, LARGE_BYTES)
    writeFileSync(
      config,
      `import * as spanscore from ${JSON.stringify(resolve('dist/entries/main.js'))}
export default { scorers: [
  spanscore.createAnswerPresentScorer(), spanscore.createToolErrorsScorer(), spanscore.createLoopScorer(),
  spanscore.createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' }),
] }`,
    )
    const inspected: Usage[] = []
    const scored: Usage[] = []
    for (let round = 0; round < Math.min(rounds, 3); round++) {
      inspected.push(await usageOf('inspect', small, '--json'))
      scored.push(await usageOf('score', small, '--config', config))
    }
    const [inspectMs, scoreMs] = [inspected, scored].map((usages) => median(usages.map(({ cpuMs }) => cpuMs)))
    const smallMb = median(scored.map(({ megabytes }) => megabytes))
    const largeMb = (await usageOf('score', large, '--config', config)).megabytes
    return [
      {
        title: 'score of a file with four code scorers: processor time, inspect --json = 1',
        baseline: `${((inspectMs ?? 0) / 1000).toFixed(1)} s`,
        measured: `${((scoreMs ?? 0) / 1000).toFixed(1)} s`,
        value: (scoreMs ?? 0) / (inspectMs ?? 1),
        unit: '×',
        atMost: 2,
      },
      {
        title: 'memory of score on a file of 180 MB, in a heap of 192 MB',
        baseline: `${smallMb.toFixed(0)} MB for 60 MB`,
        measured: `${largeMb.toFixed(0)} MB`,
        value: largeMb,
        unit: 'MB',
        atMost: 700,
      },
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Recorded traces again and again, each time under other ids. */
async function writeTraces(path: string, bytes: number): Promise<void> {
  const lines = loadLibrary('ai-7.0.173-otel').map(({ traces }) => JSON.stringify(traces))
  const file = createWriteStream(path)
  for (let written = 0, count = 0; written < bytes; count++) {
    const prefix = count.toString(16).padStart(8, '0')
    const line = `${(lines[count % lines.length] ?? '').replaceAll(/"traceId":"[0-9a-f]{8}/g, `"traceId":"${prefix}`)}\n`
    written += line.length
    if (!file.write(line)) await new Promise<void>((ready) => file.once('drain', ready))
  }
  file.end()
  await finished(file)
}

async function usageOf(command: string, ...words: string[]): Promise<Usage> {
  const heap = command === 'score' ? [HEAP] : []
  const args = [...heap, `--import=${USAGE}`, 'dist/cli/main.js', command, ...words]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const printed = await text(child.stderr)
  const found = /\nusage (.*)$/.exec(printed)?.[1]
  if (found === undefined) throw new Error(`expected spanscore ${command} to end by itself, got ${printed}`)
  const usage: NodeJS.ResourceUsage = JSON.parse(found)
  return { cpuMs: (usage.userCPUTime + usage.systemCPUTime) / 1000, megabytes: usage.maxRSS / 1024 }
}
