import { spawn } from 'node:child_process'

import { createScriptedOpenAIServer } from '../../src/testing/scripted-openai-server.ts'
import type { ScriptedReply, ScriptedRequest } from '../../src/testing/scripted-reply.ts'
import type { Distribution, ScorePlace } from './distributions.ts'
import { createVendorSink } from './vendor-sink.ts'
import type { SunkSpan } from './vendor-sink.ts'

/** The longest time that one scenario may take. */
const LIMIT_MS = 120_000

/** How long the judge takes, which is longer than Sentry waits for a flush. */
const JUDGE_MS = 700

const RUNS = 2
const SCORERS = ['tool_call_accuracy', 'polite'] as const

/** One way to attach, in one form of modules, with one library of agents. */
export interface Try {
  readonly how: 'off' | 'attach' | 'own' | 'register before' | 'register after'
  readonly modules: 'ESM' | 'CommonJS'
  readonly agent: 'AI SDK 7' | 'OpenAI Agents'
}

/** What was left of one try. */
export interface Tried {
  readonly exitCode: number | null
  readonly stderr: string
  readonly report?: Report
  readonly spans: readonly SunkSpan[]
  readonly text: string
}

interface Report {
  readonly answers: readonly string[]
  readonly scored: readonly (readonly [string, string])[]
  readonly wrong: readonly string[]
  readonly ledger?: { readonly scorers: Readonly<Record<string, Readonly<Record<string, number>>>> }
  readonly kept?: readonly SunkSpan[]
}

/** Every try of a distribution, the one without spanscore first. */
export function triesOf({
  isBuiltIn,
  tracesAgents,
  modules: forms = ['ESM', 'CommonJS'],
}: Distribution): readonly Try[] {
  const hows = isBuiltIn ? (['own'] as const) : (['attach', 'register before', 'register after'] as const)
  return [
    ...(isBuiltIn ? [] : [{ how: 'off', modules: 'ESM', agent: 'AI SDK 7' } as const]),
    ...hows.flatMap((how) => forms.map((modules) => ({ how, modules, agent: 'AI SDK 7' }) as const)),
    ...(tracesAgents ? [] : [{ how: hows[0], modules: 'ESM', agent: 'OpenAI Agents' } as const]),
  ]
}

/** Runs the application of the folder once, in a process of its own. */
export async function tryDistribution(
  distribution: Distribution,
  { how, modules, agent }: Try,
  { folder, agentsFolder, node }: { readonly folder: string; readonly agentsFolder: string; readonly node: string },
): Promise<Tried> {
  await using sink = await createVendorSink()
  await using model = await createScriptedOpenAIServer(answer)
  const own = Object.entries(distribution.environment ?? {}).map(([name, value]) => [
    name,
    value.replace('SINK', sink.url),
  ])
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    ...Object.fromEntries(own),
    SINK: sink.url,
    VENDOR: distribution.vendor,
    HOW: how,
    AGENT: agent === 'OpenAI Agents' ? 'openai-agents' : 'ai',
    AGENTS_FOLDER: agentsFolder,
    COMPAT_MODEL_URL: model.url,
    SPANSCORE_LOG: 'info',
    SPANSCORE_CONFIG: 'distributions/spanscore.config.mjs',
  }
  const isEsm = modules === 'ESM'
  const [preload, start] = isEsm
    ? ['--import', './distributions/start.mjs']
    : ['--require', './distributions/start.cjs']
  const register = [isEsm ? '--import' : '--require', 'spanscore/register']
  const preloads =
    how === 'register before'
      ? [...register, preload, start]
      : how === 'register after'
        ? [preload, start, ...register]
        : []
  const main = `distributions/main.${isEsm ? 'mjs' : 'cjs'}`
  const child = spawn(node, [...preloads, main], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve)
  })
  const report: unknown = JSON.parse(/^COMPAT (.*)$/m.exec(stdout)?.[1] ?? 'null')
  return {
    exitCode,
    // Some send diagnostics to their own log, which is on stdout.
    stderr: stderr + stdout.replace(/^COMPAT .*$/m, ''),
    ...(isReport(report) && { report }),
    spans: [...sink.spans, ...(isReport(report) ? (report.kept ?? []) : [])],
    text: sink.text(),
  }
}

function isReport(value: unknown): value is Report {
  return typeof value === 'object' && value !== null && 'answers' in value && 'wrong' in value
}

function isJudge(request: ScriptedRequest): boolean {
  return request.messages.some(({ text }) => text.includes('JUDGE'))
}

function answer(request: ScriptedRequest): ScriptedReply {
  if (isJudge(request)) return { text: '{"polite":true}', delayMs: JUDGE_MS }
  if (request.toolResults.length > 0) return { text: 'It is 4 degrees, I am glad to say.' }
  const place = /weather in (\w+)/.exec(request.userText)?.[1] ?? 'Oslo'
  return { toolCalls: [{ name: 'weather', arguments: { place } }] }
}

/** What is wrong with one try, in one sentence each. */
export function complaintsOf(
  distribution: Distribution,
  { how, agent }: Try,
  tried: Tried,
  off: Tried | undefined,
): string[] {
  const { report, exitCode, stderr, spans } = tried
  if (exitCode !== 0 || report === undefined) return [`exit code ${exitCode}: ${stderr.slice(-1500)}`]
  const wrong = [...report.wrong]
  if (report.answers.length !== RUNS || !report.answers.every((text) => text.startsWith('It is 4'))) {
    wrong.push(`the answers are ${JSON.stringify(report.answers)}`)
  }
  if (how === 'off') return wrong
  if (agent === 'AI SDK 7' && off !== undefined && shapesOf(spans) !== shapesOf(off.spans)) {
    wrong.push(`spans differ: [${shapesOf(spans)}] with, [${shapesOf(off.spans)}] without`)
  }
  if (distribution.refuses !== undefined) {
    const notice = /Nothing is scored.*/.exec(stderr)?.[0] ?? 'nothing'
    // Where there is no provider at all, register waits for one, and a program that ends before is not warned.
    const isWaiting = how !== 'attach' && !stderr.includes('Nothing is scored')
    if (!distribution.refuses.test(notice) && !isWaiting) wrong.push(`the notice says ${notice}`)
    if (stderr.includes('Attached to')) wrong.push('it says that it is attached')
    return wrong
  }
  const other = agent === 'OpenAI Agents' ? distribution.ofOpenInference : undefined
  const places: Readonly<Record<(typeof SCORERS)[number], ScorePlace>> = {
    tool_call_accuracy: other ?? distribution.code ?? 'span',
    polite: other ?? distribution.judge ?? 'span',
  }
  for (const id of SCORERS) wrong.push(...complaintsOfScore(id, places[id], tried, how))
  return wrong
}

function complaintsOfScore(id: string, place: ScorePlace, { spans, report }: Tried, how: Try['how']): string[] {
  const key = `spanscore.${id}.score`
  const scored = spans.filter((span) => Number(span.attributes[key]) === 1)
  const late = scored.filter(({ name }) => name.startsWith('evaluate '))
  const onSpans = scored.length - late.length
  const counts = report?.scored.filter(([scorer, status]) => scorer === id && status === 'scored').length ?? 0
  // What register attaches with is in the configuration file, whose onScore nobody reads here.
  const isCounted = how === 'attach' || how === 'own'
  return [
    ...(isCounted && counts !== RUNS ? [`onScore got ${counts} scores of ${id}`] : []),
    ...(place === 'span' && onSpans !== RUNS
      ? [`${key} is on ${onSpans} spans of agents, and ${late.length} late ones`]
      : []),
    ...(place === 'ending span' && onSpans === 0 ? [`${key} is on no span of an agent`] : []),
    ...(place === 'late span' && late.length !== RUNS
      ? [`${key} is on ${late.length} late spans, and ${onSpans} others`]
      : []),
    ...(place === 'onScore' && scored.length > 0 ? [`${key} is on ${scored.length} spans`] : []),
  ]
}

/** Names of the application's spans and of their attributes, sorted, without ours and those of requests that instrumentations trace. */
function shapesOf(spans: readonly SunkSpan[]): string {
  const own = spans.filter(({ name }) => /^(invoke_agent|chat|execute_tool|step|request$|answer$)/.test(name))
  return own
    .map(({ name, attributes }) => `${name} {${Object.keys(attributes).filter(isTheirs).toSorted().join(' ')}}`)
    .toSorted()
    .join(', ')
}

/** Sentry adds what it knows of the machine once it has read it, and a note of its own where a span is sent after its parent. */
const isTheirs = (key: string) => !/^(spanscore|sentry|os)\./.test(key)
