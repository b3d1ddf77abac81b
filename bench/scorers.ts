import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

import { createToolCallAccuracyScorerCode } from 'spanscore/scorers/prebuilt'
import { createAgentTestRun, createTestMessage, createToolInvocation } from 'spanscore/testing'

import { median } from './median.ts'
import type { Row } from './row.ts'

/** The peer whose scorer of the same name is measured; it is installed in its own folder. */
const PEER = { '@mastra/evals': '1.10.2', '@mastra/core': '1.71.0' }
/** By the number of tool calls: how many times as long the peer's scorer must take at least. */
const AT_LEAST = new Map([
  [3, 50],
  [30, 50],
  [300, 15],
])
const folder = join(homedir(), '.cache', 'spanscore-bench')

interface RunnableScorer {
  run(input: never): Promise<{ score: number }>
}

/** Nanoseconds of processor time that one `.run()` took, by the number of tool calls in its input. */
type Costs = Readonly<Record<string, number>>

/**
 * `.run()` of the tool call accuracy scorer, beside the peer's on the same input. Each side has processes of its own, in turn:
 * in one process the peer's heap decides what an allocation of ours costs.
 */
export async function scorerCosts(rounds: number): Promise<Row[]> {
  await installPeer()
  const peer: Costs[] = []
  const ours: Costs[] = []
  for (let round = 0; round < rounds; round += 1) {
    peer.push(await costsOf('peer'))
    ours.push(await costsOf('spanscore'))
  }
  return [...AT_LEAST].map(([calls, atLeast]) => {
    const [a, b] = [peer.map((costs) => costs[calls] ?? Number.NaN), ours.map((costs) => costs[calls] ?? Number.NaN)]
    return {
      title: `.run() of tool call accuracy by code, ${calls} calls; @mastra/evals ${PEER['@mastra/evals']}`,
      baseline: `${(median(a) / 1000).toFixed(1)} µs`,
      measured: `${(median(b) / 1000).toFixed(1)} µs`,
      value: median(a.map((cost, index) => cost / (b[index] ?? Number.NaN))),
      unit: '×',
      atLeast,
    }
  })
}

async function costsOf(side: 'peer' | 'spanscore'): Promise<Costs> {
  const { stdout } = await promisify(execFile)(process.execPath, [import.meta.filename, side])
  return JSON.parse(stdout) as Costs
}

/** Measures one side in its process: warm-up, then the median of a few passes over each input. */
async function measure(side: string): Promise<Costs> {
  const create = side === 'peer' ? await loadPeer() : createToolCallAccuracyScorerCode
  const scorer: RunnableScorer = create({ expectedTool: 'tool-0' })
  const costs: Record<string, number> = {}
  for (const calls of AT_LEAST.keys()) {
    const input = inputWith(calls)
    const times = (side === 'peer' ? 500 : 20_000) / (calls > 30 ? 10 : 1)
    const passes: number[] = []
    for (let pass = -6; pass < 5; pass += 1) {
      const ns = await nsPerRun(scorer, input, times)
      if (pass >= 0) passes.push(ns)
    }
    costs[calls] = median(passes)
  }
  return costs
}

function inputWith(calls: number): unknown {
  const toolInvocations = Array.from({ length: calls }, (_, index) =>
    createToolInvocation({
      toolCallId: `call-${index}`,
      toolName: `tool-${index}`,
      args: { place: 'Oslo' },
      result: { temperatureC: 4 },
      state: 'result',
    }),
  )
  return createAgentTestRun({
    inputMessages: [createTestMessage({ content: 'What is the weather in Oslo?', role: 'user', id: 'input-1' })],
    output: [createTestMessage({ content: 'It is 4 degrees.', role: 'assistant', id: 'output-1', toolInvocations })],
  })
}

async function nsPerRun(scorer: RunnableScorer, input: unknown, times: number): Promise<number> {
  const before = process.cpuUsage()
  for (let n = 0; n < times; n += 1) {
    const { score } = await scorer.run(input as never)
    if (score !== 1) throw new Error(`expected the score 1, got ${score}`)
  }
  const { user, system } = process.cpuUsage(before)
  return ((user + system) * 1000) / times
}

async function installPeer(): Promise<void> {
  if (existsSync(join(folder, 'node_modules/@mastra/evals'))) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: PEER }))
  const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--legacy-peer-deps']
  await promisify(execFile)('npm', ['install', ...flags, '--loglevel=error'], { cwd: folder })
}

async function loadPeer(): Promise<(options: { expectedTool: string }) => RunnableScorer> {
  const path = createRequire(join(folder, 'x.js')).resolve('@mastra/evals/scorers/prebuilt')
  const module: unknown = await import(pathToFileURL(path).href)
  return (module as { createToolCallAccuracyScorerCode: (options: { expectedTool: string }) => RunnableScorer })
    .createToolCallAccuracyScorerCode
}

if (import.meta.main) console.log(JSON.stringify(await measure(process.argv[2] ?? '')))
