import { spawn } from 'node:child_process'

import { createOtlpReceiver } from '../../src/testing/otlp-receiver.ts'
import type { OtlpReceiver } from '../../src/testing/otlp-receiver.ts'
import { createScriptedOpenAIServer } from '../../src/testing/scripted-openai-server.ts'
import type { ScriptedReply, ScriptedRequest } from '../../src/testing/scripted-reply.ts'
import type { Cell } from './cells.ts'
import type { Scenario } from './scenarios.ts'

/** The longest time that one scenario may take. */
const LIMIT_MS = 60_000

/** What the process itself reports at its end. */
export interface Report {
  readonly answers: readonly string[]
  readonly ledger?: {
    readonly runs: Readonly<Record<string, number>>
    readonly scorers: Readonly<Record<string, Readonly<Record<string, number>>>>
  }
  /** Lines of `diag`, each beginning with its level. */
  readonly said: readonly string[]
  readonly node: string
}

/** What a scenario left behind. */
export interface Outcome {
  readonly exitCode: number | null
  readonly stderr: string
  readonly report?: Report
  /** Number of requests that judges made. */
  readonly judgeRequests: number
  readonly received: Pick<OtlpReceiver, 'spans' | 'logs' | 'metrics'>
}

/** Runs one scenario in its own process, against a model and an OTLP backend on loopback. */
export async function runScenario(cell: Cell, scenario: Scenario, folder: string, node: string): Promise<Outcome> {
  await using receiver = await createOtlpReceiver()
  await using model = await createScriptedOpenAIServer(answer)
  const environment = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    COMPAT_MODE: scenario.mode,
    COMPAT_SDK: cell.sdk,
    COMPAT_AI: cell.ai,
    COMPAT_OTLP_URL: receiver.url,
    COMPAT_MODEL_URL: model.url,
  }
  const ended = await runNode(node, scenario.nodeArguments, folder, environment)
  const report: unknown = JSON.parse(/^COMPAT (.*)$/m.exec(ended.stdout)?.[1] ?? 'null')
  return {
    exitCode: ended.exitCode,
    stderr: ended.stderr,
    ...(isReport(report) && { report }),
    judgeRequests: model.requests.filter(isJudge).length,
    received: { spans: receiver.spans, logs: receiver.logs, metrics: receiver.metrics },
  }
}

function isReport(value: unknown): value is Report {
  return typeof value === 'object' && value !== null && 'answers' in value && 'said' in value
}

function isJudge(request: ScriptedRequest): boolean {
  return request.messages.some(({ text }) => text.includes('JUDGE'))
}

function answer(request: ScriptedRequest): ScriptedReply {
  if (isJudge(request)) return { text: '{"polite":true}' }
  if (request.toolResults.length > 0) return { text: 'It is 4 degrees, I am glad to say.' }
  const place = /weather in (\w+)/.exec(request.userText)?.[1] ?? 'Oslo'
  return { toolCalls: [{ name: 'weather', arguments: { place } }] }
}

async function runNode(node: string, nodeArguments: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
  const child = spawn(node, nodeArguments, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT_MS })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve)
  })
  return { exitCode, stdout, stderr }
}
