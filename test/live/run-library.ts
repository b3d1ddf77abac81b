import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'

import type { AgentRun } from '../../src/model/agent-run.ts'
import type { Application } from './install.ts'
import { scenariosOf } from './libraries.ts'
import type { Library } from './libraries.ts'
import { createModelServer } from './model-server.ts'
import { createOtlpFiles } from './otlp-files.ts'
import type { LiveScenario } from './scenarios.ts'
import { replyOf } from './script.ts'
import type { DoneCall } from './script.ts'

/** The longest time that one scenario may take, including the start of its process. */
const LIMIT_MS = 60_000

/** A score as `onScore` receives it. */
export interface GivenEvaluation {
  readonly scorer: string
  readonly status: string
  readonly score: { readonly value?: number }
  readonly revision: number
  readonly run: AgentRun
}

/** The output of one scenario. */
export interface Outcome {
  readonly scenario: LiveScenario
  readonly answers: readonly string[]
  readonly threw?: string
  /** What the program's tools were called with. */
  readonly done: readonly DoneCall[]
  readonly evaluations: readonly GivenEvaluation[]
  readonly hooks: readonly unknown[]
  readonly ledger?: { readonly runs: Readonly<Record<string, number>> }
  /** The files of exported signals, and the requests in them. */
  readonly exported: { readonly files: string[]; readonly traces: unknown[]; readonly logs: unknown[] }
}

/** How a library is run. */
export interface RunOptions {
  /** Scenarios whose name holds this text. @default all */
  readonly only?: string
  /** Records spans without spanscore. @default false */
  readonly record?: boolean
}

/**
 * Plays the scenarios one after another in one process of the library's application.
 *
 * @throws Error if the process ends, or a scenario takes longer than a minute
 */
export async function runLibrary(
  library: Library,
  application: Application,
  { only = '', record = false }: RunOptions = {},
): Promise<Outcome[]> {
  let scenario: LiveScenario | undefined
  await using model = await createModelServer((question) =>
    scenario === undefined ? { status: 400 } : replyOf(scenario, question),
  )
  await using backend = await createOtlpFiles()
  const child = fork('main.mjs', [library.program], {
    cwd: application.folder,
    silent: true,
    execArgv: library.nodeArguments ?? [],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      MODEL_URL: model.origin,
      VARIANT: library.variant,
      LIVE_SDK: library.sdk ?? 'node',
      ...library.environment,
      LIVE_RECORD: String(record),
      // A recording holds no facts about the machine on which it was made.
      ...(record && { OTEL_NODE_RESOURCE_DETECTORS: 'none' }),
      OTEL_EXPORTER_OTLP_ENDPOINT: backend.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_METRICS_EXPORTER: 'none',
      NODE_OPTIONS: '',
    },
  })
  const messages = new Messages(child)
  try {
    await messages.next()
    const outcomes: Outcome[] = []
    for (scenario of scenariosOf(library).filter(({ name }) => name.includes(only))) {
      child.send(scenario)
      const said = (await messages.next()) as Omit<Outcome, 'scenario' | 'exported'>
      outcomes.push({ scenario, ...said, exported: backend.take(application.folder, scenario.name) })
    }
    child.send('end')
    return outcomes
  } finally {
    child.kill()
  }
}

/** Messages of a process, one by one. */
class Messages {
  readonly #child: ChildProcess
  #output = ''

  constructor(child: ChildProcess) {
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.#output = (this.#output + text).slice(-4_000)))
    }
  }

  next(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const fail = (what: string): void => reject(new Error(`${what}; it printed:\n${this.#output}`))
      const timer = setTimeout(() => fail(`no answer within ${LIMIT_MS / 1_000} s`), LIMIT_MS)
      const onExit = (code: number | null): void => fail(`the process ended with ${code}`)
      this.#child.once('exit', onExit)
      this.#child.once('message', (message) => {
        clearTimeout(timer)
        this.#child.off('exit', onExit)
        resolve(message)
      })
    })
  }
}
