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
/** Traces of several libraries, as applications of one backend would write them. */
const LIBRARIES = [
  'ai-7.0.173-otel',
  'openinference-langgraph-4.1.1',
  'mastra-core-1.71.0-otel-bridge-1.5.4',
  'python-otel-genai-openai-span-1.3b0',
]
/** The runs of the large file take several times as much. */
const HEAP = '--max-old-space-size=192'

const USAGE =
  'data:text/javascript,process.on("exit",()=>process.stderr.write("\\nusage "+JSON.stringify(process.resourceUsage())))'

interface Usage {
  /** Processor time of user and system, in milliseconds. */
  readonly cpuMs: number
  readonly megabytes: number
}

/**
 * What `spanscore score` takes with four code scorers, beside `spanscore inspect` on the same file.
 *
 * @param largeMb the size of the large file
 */
export async function fileCosts(rounds: number, largeMb: number): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-bench-'))
  try {
    const [small, large, config] = [join(folder, 'small.jsonl'), join(folder, 'large.jsonl'), join(folder, 'c.mjs')]
    await writeTraces(small, SMALL_BYTES)
    await writeTraces(large, largeMb * MEGABYTE)
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
    const inspectedLarge = await usageOf('inspect', large, '--json')
    const scoredLarge = await usageOf('score', large, '--config', config)
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
        title: `the same for a file of ${largeMb} MB`,
        baseline: `${(inspectedLarge.cpuMs / 1000).toFixed(1)} s`,
        measured: `${(scoredLarge.cpuMs / 1000).toFixed(1)} s`,
        value: scoredLarge.cpuMs / inspectedLarge.cpuMs,
        unit: '×',
        atMost: 2,
      },
      {
        title: `memory of score on a file of ${largeMb} MB, in a heap of 192 MB`,
        baseline: `${smallMb.toFixed(0)} MB for 60 MB`,
        measured: `${scoredLarge.megabytes.toFixed(0)} MB`,
        value: scoredLarge.megabytes,
        unit: 'MB',
        atMost: 400,
      },
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Recorded traces again and again, each time under other ids, one request every ten milliseconds. */
async function writeTraces(path: string, bytes: number): Promise<void> {
  const lines = LIBRARIES.flatMap((name) => loadLibrary(name)).map(({ traces }) => JSON.stringify(traces))
  const file = createWriteStream(path)
  for (let written = 0, count = 0; written < bytes; count++) {
    const line = `${copyOf(lines[count % lines.length] ?? '', count)}\n`
    written += line.length
    if (!file.write(line)) await new Promise<void>((ready) => file.once('drain', ready))
  }
  file.end()
  await finished(file)
}

/** A request as number `count` of the traffic: with trace ids and times of its own. */
function copyOf(request: string, count: number): string {
  const suffix = count.toString(16).padStart(8, '0')
  const times = [...request.matchAll(TIME)].map(([, , time = '']) => time)
  const shift = FIRST_NANOSECONDS + BigInt(count) * 10_000_000n - BigInt(times.toSorted()[0] ?? 0)
  return request
    .replaceAll(/("traceId":"[0-9a-f]{24})[0-9a-f]{8}/g, `$1${suffix}`)
    .replaceAll(TIME, (_, key: string, time: string) => `"${key}":"${BigInt(time) + shift}"`)
}

const TIME = /"(timeUnixNano|startTimeUnixNano|endTimeUnixNano)":"([1-9]\d+)"/g
const FIRST_NANOSECONDS = 1_790_000_000_000_000_000n

async function usageOf(command: string, ...words: string[]): Promise<Usage> {
  const heap = command === 'score' ? [HEAP] : []
  const args = [...heap, `--import=${USAGE}`, 'cli/dist/main.js', command, ...words]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const printed = await text(child.stderr)
  const found = /\nusage (.*)$/.exec(printed)?.[1]
  if (found === undefined) throw new Error(`expected spanscore ${command} to end by itself, got ${printed}`)
  const usage: NodeJS.ResourceUsage = JSON.parse(found)
  return { cpuMs: (usage.userCPUTime + usage.systemCPUTime) / 1000, megabytes: usage.maxRSS / 1024 }
}
