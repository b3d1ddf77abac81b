/**
 * `npm run demo -- --page` runs the same agents, which the service scores and shows in a browser. The application only exports its
 * spans. The service, in another process, builds the runs, scores them and shows them.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { createOpenAI } from '@ai-sdk/openai'
import { OpenTelemetry } from '@ai-sdk/otel'
import { SpanKind, trace } from '@opentelemetry/api'
import { registerTelemetry } from 'ai'
import type { ModelMessage } from 'ai'
import { createScriptedOpenAIServer } from 'spanscore/testing'

import { createDemoAgents } from './agents.ts'
import type { DemoAgents } from './agents.ts'
import { answerJudge, isJudge } from './judge-script.ts'
import { paint } from './report.ts'
import { answerAgent, questions } from './script.ts'
import { startTelemetry } from './telemetry.ts'
import { sendTwoDays } from './two-days.ts'

const root = join(import.meta.dirname, '../..')
const service = join(root, 'server/dist/main.js')

/** The pause between two questions after all of them have been asked once. */
const PAUSE_MS = 4000

/** Feeds the page, and keeps it open until the program is interrupted. */
export async function showPage(): Promise<void> {
  if (!existsSync(service)) spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' })
  const isReal = Boolean(process.env['OPENAI_API_KEY'])
  const server = await createScriptedOpenAIServer((request) =>
    isJudge(request) ? answerJudge(request) : answerAgent(request),
  )
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-demo-'))
  const options = [
    '--page',
    '--page-port',
    '0',
    '--http-port',
    '0',
    '--grpc-port',
    '0',
    '--settle',
    '1',
    '--idle',
    '3',
    '--data',
    folder,
  ]
  const child = spawn(
    process.execPath,
    [service, ...options, '--config', join(import.meta.dirname, 'page-config.ts')],
    {
      env: { ...process.env, ...(!isReal && { DEMO_JUDGE_URL: server.url }) },
      stdio: ['ignore', 'inherit', 'pipe'],
    },
  )
  let isEnding = false
  // The demo has nothing to show without its service.
  child.once('exit', (code, signal) => {
    rmSync(folder, { recursive: true, force: true })
    if (!isEnding) console.error(`The service of the demo has ended (${signal ?? `exit code ${code}`}).`)
    process.exit(isEnding ? 0 : 1)
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      isEnding = true
      child.kill('SIGTERM')
    })
  }
  const { pageUrl, otlpUrl } = await addressesOf(child.stderr)
  console.log(`${paint('bold', 'The page of the demo')}: ${pageUrl}`)
  console.log(
    isReal
      ? 'gpt-5-mini of OpenAI is the model of the agents and the judge.'
      : 'Model and judge are SCRIPTED: they answer over real HTTP what a script says, mistakes included.',
  )
  console.log(
    'It shows which agent got worse (Now) and why, a conversation, and what its user said. Runs arrive while you look. Ctrl-C ends it.',
  )

  if (!isReal) await sendTwoDays(otlpUrl)
  startTelemetry([otlpUrl])
  registerTelemetry(new OpenTelemetry())
  const openai = isReal ? createOpenAI() : createOpenAI({ baseURL: server.url, apiKey: 'scripted' })
  const agents = createDemoAgents(openai('gpt-5-mini'))
  const asked: (() => Promise<unknown>)[] = [
    ...questions.weather.map((question) => () => agents.weather(question)),
    ...questions.support.map((question) => () => agents.support(question)),
    ...questions.trip.map((question) => () => agents.trip(question)),
    ...questions.summary.map((question) => () => agents.summary(question)),
    ...(isReal ? [] : [() => agents.weather(questions.outage[0])]),
  ]
  // The error of a failed run is recorded on its span.
  for (const ask of asked) await ask().catch(() => undefined)
  await converse(agents, otlpUrl)
  // A real model costs money, so it is asked only once.
  if (isReal) return new Promise(() => undefined)
  for (let turn = 0; ; turn++) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    await asked[turn % asked.length]?.().catch(() => undefined)
  }
}

/** A user asks three times in one conversation, and then says what they think of it. */
async function converse(agents: DemoAgents, otlpUrl: string): Promise<void> {
  const messages: ModelMessage[] = []
  const attributes = { 'session.id': 'chat-1', 'user.id': 'ann' }
  for (const content of questions.chat) {
    messages.push({ role: 'user', content })
    const options = { kind: SpanKind.SERVER, attributes }
    const { traceId, spanId } = await trace.getTracer('demo').startActiveSpan('POST /chat', options, async (span) => {
      messages.push({ role: 'assistant', content: await agents.chat(messages) })
      span.end()
      return span.spanContext()
    })
    if (content !== questions.chat.at(-1)) continue
    const said = { traceId, spanId, name: 'thumbs', value: false, comment: 'It never listens.', userId: 'ann' }
    const headers = { 'content-type': 'application/json' }
    await fetch(`${otlpUrl}/v1/feedback`, { method: 'POST', headers, body: JSON.stringify(said) })
  }
}

/** The addresses that the service prints when it starts. */
function addressesOf(output: NodeJS.ReadableStream): Promise<{ readonly pageUrl: string; readonly otlpUrl: string }> {
  return new Promise((resolve, reject) => {
    let otlpUrl: string | undefined
    const lines: string[] = []
    createInterface({ input: output })
      .on('line', (line) => {
        lines.push(line)
        otlpUrl ??= /OTLP\/HTTP on (\S+)/.exec(line)?.[1]
        const pageUrl = /The page is at (\S+)/.exec(line)?.[1]
        if (pageUrl !== undefined && otlpUrl !== undefined) resolve({ pageUrl, otlpUrl })
      })
      .once('close', () => reject(new Error(`The service did not start:\n${lines.join('\n')}`)))
  })
}
