import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { Providers } from '../../../src/processor/attach/tracer-providers.ts'
import { onTracerProvider } from '../../../src/processor/attach/on-tracer-provider.ts'
import { processorsOf } from '../../../src/processor/attach/provider-processors.ts'
import { nameOfClass } from '../../../src/processor/attach/vendors.ts'
import type { ScoringDescription } from '../../../src/processor/attach/other-processors.ts'
import { ScoringSpanProcessor } from '../../../src/processor/scoring-span-processor.ts'
import { toSourceSpan } from '../../../src/spans/from-sdk-span.ts'
import { disablingVariable } from '../../../src/emit/disabling-variable.ts'
import { recognise } from '../../../src/spans/recognise.ts'
import { RecognisedSpanCounter } from '../../../src/spans/recognised-spans.ts'
import type { SourceSpan } from '../../../src/spans/source-span.ts'
import type { EndedSpan, SpanProcessorLike } from '../../../src/spans/sdk-types.ts'
import type { AgentRun } from '../../../src/model/agent-run.ts'
import { defineScorer } from '../../../src/scoring/define-scorer.ts'
import { isRecord } from '../../../src/spans/json.ts'
import { askJudges } from './ask-judges.ts'
import { toSeenRun } from '../../../src/processor/checks/setup-facts.ts'
import type { SeenRun } from '../../../src/processor/checks/setup-facts.ts'
import type { AskFacts, ProcessFacts, ProviderFacts } from './facts.ts'
import { toScoringFacts } from './scoring-facts.ts'

const API = Symbol.for('opentelemetry.js.api.1')
const MOST_RUNS = 5
const MOST_TRACES = 1000
const MOST_LOOKS = 10

/** The settings that `spanscore doctor` passes to the processes that it starts. */
export interface ProbeSettings {
  /** The folder in which each process writes its facts, as `<pid>.json`. */
  readonly folder: string
  /** How long to wait for the first run, in milliseconds. */
  readonly waitMs: number
  /** Whether each judge is asked once. */
  readonly asks: boolean
}

/** Watches this process and writes the facts about it: at its first run, after a while, and at its end. */
export function startProbe({ folder, waitMs, asks }: ProbeSettings): void {
  const described: ScoringDescription[] = []
  Reflect.set(globalThis, Symbol.for('spanscore.doctor'), described)
  const packages = watchLoadedPackages()
  const notices: { code: string; message: string }[] = []
  process.on('warning', (warning) => {
    const { code = '' }: NodeJS.ErrnoException = warning
    if (code.startsWith('SPANSCORE_')) notices.push({ code, message: warning.message })
  })
  const runs: SeenRun[] = []
  let spans = 0
  const searches = new Searches()
  const recognised = new RecognisedSpanCounter()
  let provider: object | undefined
  let asked: readonly AskFacts[] = []
  let isReporting = false
  let isWritten = false

  const write = (when: ProcessFacts['when']): void => {
    const api: unknown = Reflect.get(globalThis, API)
    const providers = new Providers({})
    const meterProvider = nameOfClass(providers.meterProvider())
    const loggerProvider = nameOfClass(providers.loggerProvider())
    const facts: ProcessFacts = {
      nodeVersion: process.version,
      pid: process.pid,
      when,
      packages: packages(),
      ...(isRecord(api) && typeof api['version'] === 'string' && { apiVersion: api['version'] }),
      disabledBy: disablingVariables(process.env),
      ...(provider !== undefined && { tracerProvider: toProviderFacts(provider, observer, described) }),
      ...(meterProvider !== undefined && { meterProvider }),
      ...(loggerProvider !== undefined && { loggerProvider }),
      scoring: scoringOf(described, observer).map(({ options, ledger }) => toScoringFacts(options, ledger())),
      runs,
      spans,
      recognised: recognised.counted,
      hasSearchOutside: searches.isAnyOutside,
      notices,
      asks,
      asked,
    }
    mkdirSync(folder, { recursive: true })
    const file = join(folder, `${process.pid}.json`)
    writeFileSync(`${file}.part`, JSON.stringify(facts))
    renameSync(`${file}.part`, file)
    isWritten = true
  }
  const atExit = (): void => guarded(() => isWritten || write('exit'))
  const report = async (when: ProcessFacts['when']): Promise<void> => {
    if (isReporting) return
    isReporting = true
    if (when === 'late' && runs.length === 0) {
      // The end of an observation is when its notices say why there was no run.
      await observer.stopScoring()
      await nextTurn()
    }
    if (asks) {
      const scorers = scoringOf(described, observer).flatMap(({ options }) => options.scorers)
      asked = await askJudges(
        scorers.map(({ scorer }) => scorer),
        20_000,
      )
    }
    guarded(() => write(when))
  }

  const isPending = () =>
    scoringOf(described, observer).some(({ ledger }) =>
      Object.values(ledger().scorers).some(({ pending }) => pending > 0),
    )
  /** Looks every half a second whether judges have answered. */
  const reportWhenScored = (looks: number): void => {
    const timer = setTimeout(() => {
      if (looks > 1 && isPending()) reportWhenScored(looks - 1)
      else void report('run')
    }, 500)
    // A short script waits until its judges have been asked.
    if (!asks) timer.unref()
  }

  const observer = createObserver((run) => {
    if (runs.length < MOST_RUNS) runs.push(toSeenRun(run))
    searches.addRun(run)
    // In a later turn of the event loop, after the application's scorers have seen the run.
    const isFirst = runs.length === 1
    // After the scoring processors of the application, which warn at the exit.
    if (isFirst) process.off('exit', atExit).on('exit', atExit)
    if (isFirst) reportWhenScored(MOST_LOOKS)
  })
  onTracerProvider((found) => {
    provider = found
    guarded(() =>
      processorsOf(found)?.push(
        observer,
        countingProcessor((span) => {
          spans += 1
          const source = toSourceSpan(span)
          recognised.add(source)
          guarded(() => searches.addSpan(source))
        }),
      ),
    )
  })
  setTimeout(() => void report('late'), waitMs).unref()
  if (asks) process.once('beforeExit', () => void report('exit'))
  process.on('exit', atExit)
}

/** The variables of the SDK that leave the process without a provider. */
function disablingVariables(environment: Readonly<Record<string, string | undefined>>): ProcessFacts['disabledBy'] {
  const signals = ['traces', 'metrics', 'logs'] as const
  return Object.fromEntries(
    signals.flatMap((signal) => {
      const variable = disablingVariable(signal, environment)
      return variable === undefined ? [] : [[signal, variable]]
    }),
  )
}

/** The traces of the first searches, and of the runs that show them. */
class Searches {
  readonly #traces = new Set<string>()
  readonly #ofRuns = new Map<string, boolean>()

  /** Whether a trace has a search and runs, none of which shows it; or has a search alone, and no run has any. */
  get isAnyOutside(): boolean {
    const runs = [...this.#ofRuns.values()]
    const noneShows = runs.length > 0 && !runs.includes(true)
    return [...this.#traces].some((traceId) => this.#ofRuns.get(traceId) === false || noneShows)
  }

  addSpan(span: SourceSpan): void {
    const isSearch = recognise(span.scope.name, span.attributes, span.name)?.aside?.(span) === 'retrieval'
    if (isSearch && this.#traces.size < MOST_TRACES) this.#traces.add(span.traceId)
  }

  addRun({ traceId, retrievals }: AgentRun): void {
    if (this.#ofRuns.size < MOST_TRACES || this.#ofRuns.has(traceId))
      this.#ofRuns.set(traceId, retrievals.length > 0 || this.#ofRuns.get(traceId) === true)
  }
}

/** Errors of the doctor must not reach the application. */
function guarded(run: () => unknown): void {
  try {
    run()
  } catch {}
}

/** Sees every run as scorers do, and emits nothing. */
function createObserver(onRun: (run: AgentRun) => void): ScoringSpanProcessor {
  const scorer = defineScorer({
    id: 'spanscore_doctor',
    description: 'Observes runs for spanscore doctor.',
    kind: 'code',
    inline: true,
    assess: () => ({ status: 'scored', value: 1 }),
  })
  return new ScoringSpanProcessor({
    scorers: [scorer],
    emit: { attributes: false, events: false, lateSpans: 'never', metrics: false },
    onScore: (_evaluation, run) => onRun(run),
  })
}

function countingProcessor(count: (span: EndedSpan) => void): SpanProcessorLike {
  return {
    onStart() {},
    onEnd: count,
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  }
}

function scoringOf(described: readonly ScoringDescription[], observer: object): readonly ScoringDescription[] {
  return described.filter(({ processor }) => processor !== observer)
}

function behind(scoring: ScoringDescription | undefined): readonly SpanProcessorLike[] {
  const next = scoring?.options.next
  if (next === undefined) return []
  return 'processors' in next ? listOf(next) : [next]
}

function listOf(composite: object): readonly SpanProcessorLike[] {
  const processors: unknown = Reflect.get(composite, 'processors')
  return Array.isArray(processors) ? processors : []
}

function toProviderFacts(provider: object, observer: object, described: readonly ScoringDescription[]): ProviderFacts {
  // A bundler may leave the class without a name.
  const name = nameOfClass(provider) ?? 'a class without a name'
  const processors = processorsOf(provider)
  if (processors === undefined) return { name }
  return {
    name,
    processors: processors
      // Scoring is in front of the processors that it found.
      .flatMap((each) => [each, ...behind(described.find(({ processor }) => processor === each))])
      .filter((each) => each !== observer && each.constructor !== Object)
      .map((each) => {
        const exporter: unknown = Reflect.get(each, '_exporter')
        const exporterName = isRecord(exporter) ? nameOfClass(exporter) : undefined
        return {
          name: nameOfClass(each) ?? 'a processor',
          ...(typeof exporterName === 'string' && { exporter: exporterName }),
        }
      }),
  }
}

/** The packages that the report names. */
const RELEVANT =
  /^(?:@opentelemetry\/(?:api|sdk-[\w-]+|instrumentation-[\w-]+)|@arizeai\/[\w-]+|@traceloop\/[\w-]+|@ai-sdk\/[\w-]+|@mastra\/core|@langchain\/[\w-]+|@openai\/agents|@anthropic-ai\/sdk|ai|langfuse|openai|spanscore)$/

/** Watches which packages this process loads from now on, as ES modules or CommonJS. The result returns their versions. */
function watchLoadedPackages(): () => Readonly<Record<string, string>> {
  const manifests = new Map<string, string>()
  // This is not an import, because an older Node.js without the function could not load this file, nor the application.
  process.getBuiltinModule?.('node:module').registerHooks?.({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      const [, folder, name] = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(resolved.url) ?? []
      if (folder !== undefined && name !== undefined && RELEVANT.test(name) && !manifests.has(name)) {
        manifests.set(name, `${folder}/package.json`)
      }
      return resolved
    },
  })
  return () => Object.fromEntries([...manifests].map(([name, manifest]) => [name, versionIn(manifest)]))
}

function versionIn(manifest: string): string {
  try {
    const parsed: unknown = JSON.parse(readFileSync(fileURLToPath(manifest), 'utf8'))
    return isRecord(parsed) && typeof parsed['version'] === 'string' ? parsed['version'] : 'of an unknown version'
  } catch {
    return 'of an unknown version'
  }
}
