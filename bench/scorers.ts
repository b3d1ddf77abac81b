import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { createToolCallAccuracyScorerCode } from 'spanscore/scorers/prebuilt'
import { createAgentTestRun, createTestMessage, createToolInvocation } from 'spanscore/testing'

import { median } from './median.ts'
import type { Row } from './row.ts'

/** The peer whose scorer of the same name is measured, in a folder of its own. */
const PEER = { '@mastra/evals': '1.10.2', '@mastra/core': '1.71.0' }
const folder = join(homedir(), '.cache', 'spanscore-bench')

interface RunnableScorer {
  run(input: never): Promise<{ score: number }>
}

/** `.run()` of the tool call accuracy scorer, beside the peer's on the same input. */
export async function scorerCosts(rounds: number): Promise<Row[]> {
  const createPeer = await loadPeer()
  const options = { expectedTool: 'tool-0' }
  const ours: RunnableScorer = createToolCallAccuracyScorerCode(options)
  const peer = createPeer(options)
  const rows: Row[] = []
  for (const calls of [3, 30]) {
    const input = inputWith(calls)
    const costs: [number[], number[]] = [[], []]
    for (let round = -3; round < rounds; round += 1) {
      const [a, b] = [await nsPerRun(peer, input, 500), await nsPerRun(ours, input, 20_000)]
      if (round < 0) continue
      costs[0].push(a)
      costs[1].push(b)
    }
    rows.push({
      title: `.run() of tool call accuracy by code, ${calls} calls; @mastra/evals ${PEER['@mastra/evals']}`,
      baseline: `${(median(costs[0]) / 1000).toFixed(1)} µs`,
      measured: `${(median(costs[1]) / 1000).toFixed(1)} µs`,
      value: median(costs[0].map((cost, index) => cost / (costs[1][index] ?? Number.NaN))),
      unit: '×',
      atLeast: 50,
    })
  }
  return rows
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

async function loadPeer(): Promise<(options: { expectedTool: string }) => RunnableScorer> {
  if (!existsSync(join(folder, 'node_modules/@mastra/evals'))) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: PEER }))
    const npm = [
      'install',
      '--no-audit',
      '--no-fund',
      '--no-package-lock',
      '--ignore-scripts',
      '--legacy-peer-deps',
      '--loglevel=error',
    ]
    execFileSync('npm', npm, { cwd: folder, stdio: 'inherit' })
  }
  const path = createRequire(join(folder, 'x.js')).resolve('@mastra/evals/scorers/prebuilt')
  const module: unknown = await import(pathToFileURL(path).href)
  return (module as { createToolCallAccuracyScorerCode: (options: { expectedTool: string }) => RunnableScorer })
    .createToolCallAccuracyScorerCode
}
