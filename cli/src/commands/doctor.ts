import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { checkFiles } from '../doctor/check-files.ts'
import { diagnose } from '../doctor/diagnose.ts'
import type { EndFacts, DoctorLine, ProcessFacts } from '../doctor/facts.ts'
import type { CliCommand, CommandContext, ExitCode } from '../command.ts'
import { forwardSignals } from '../forward-signals.ts'
import { createPaint, write } from '../output.ts'
import { hanging, safeLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'

interface DoctorOptions {
  readonly config?: string
  readonly ask?: boolean
  readonly wait: string
}

const PROBE = new URL('./doctor-probe.js', import.meta.url).href

/** How often the folder is checked for reports, in milliseconds. */
const POLL_MS = 100

/** `spanscore doctor [-- node app.js]`: reports what is attached, recorded and configured, and how to fix what is not. */
export const doctorCommand: CliCommand = {
  name: 'doctor',
  declare: (command, context, finish) => {
    command
      .summary('check what is attached, recorded and configured, and how to fix what is not')
      .description(
        'Runs the application and reports after its first agent run, or after 30 seconds. The application keeps running. ' +
          'Without a command it checks the files in this folder.',
      )
      .argument('[command...]', 'the application, after --: spanscore doctor -- node app.js')
      .option('--config <file>', 'the configuration file; it becomes SPANSCORE_CONFIG')
      .option('--ask', 'ask each judge one tiny question; otherwise nothing is sent over the network')
      .option('--wait <seconds>', 'how long to wait for the first run', '30')
      .addHelpText('after', '\nExit code: 0 if all is well, 1 if something is not, 2 for wrong usage.')
      .action(async (words: readonly string[], options: DoctorOptions) => finish(await doctor(words, options, context)))
  },
}

async function doctor(words: readonly string[], options: DoctorOptions, given: CommandContext): Promise<ExitCode> {
  const context = withConfig(given, options.config)
  const waitMs = Number(options.wait) * 1000
  if (!(waitMs > 0 && waitMs <= 3_600_000)) {
    throw new UsageError(`--wait: expected seconds, above 0 and up to 3600, got ${options.wait}`, { showsHelp: true })
  }
  const asks = options.ask === true
  const [program, ...args] = words
  if (program === undefined) {
    const code = await report(await checkFiles(process.cwd(), context.environment, asks), context)
    await write(
      context.stdout,
      'Only a running application shows the tracer provider, its processors, instrumentations and runs. ' +
        'To see them: npx @spanscore/cli doctor -- node app.js\n',
    )
    return code
  }
  return runApplication(program, args, { waitMs, asks }, context)
}

function withConfig(context: CommandContext, path: string | undefined): CommandContext {
  if (path === undefined) return context
  const file = resolve(path)
  if (!existsSync(file)) {
    throw new UsageError(`--config: expected the path of a configuration file, got ${path}, which does not exist`)
  }
  return { ...context, environment: { ...context.environment, SPANSCORE_CONFIG: file } }
}

async function runApplication(
  program: string,
  words: readonly string[],
  { waitMs, asks }: { readonly waitMs: number; readonly asks: boolean },
  context: CommandContext,
): Promise<ExitCode> {
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-doctor-'))
  const { environment } = context
  const application = spawn(program, words, {
    stdio: ['inherit', 'inherit', 'inherit'],
    env: {
      ...environment,
      NODE_OPTIONS: `${environment['NODE_OPTIONS'] ?? ''} --import=${PROBE}`.trim(),
      SPANSCORE_DOCTOR_FOLDER: folder,
      SPANSCORE_DOCTOR_WAIT_MS: String(waitMs),
      SPANSCORE_DOCTOR_ASKS: String(asks),
    },
  })
  const forwarded = forwardSignals(application)
  try {
    const ended = ending(application, program)
    const facts = await firstFacts(folder, ended, waitMs + (asks ? 25_000 : 10_000))
    const findings = facts === undefined ? [NO_PROCESS] : diagnose(facts, endOf(application))
    const code = await report(findings, context)
    // A script that has nothing left to do ends by itself.
    await Promise.race([ended, sleep(1000, undefined, { ref: false })])
    if (endOf(application) === undefined) await write(context.stdout, 'The application still runs: Ctrl-C ends it.\n')
    await ended
    return code
  } finally {
    forwarded()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** How the application ended; `undefined` while it runs. */
function endOf({ exitCode, signalCode }: ChildProcess): EndFacts | undefined {
  return exitCode === null && signalCode === null ? undefined : { exitCode, signal: signalCode }
}

const NO_PROCESS: DoctorLine = {
  isGood: false,
  text: 'No Node.js process of the command reported.',
  cure: 'Give the command that starts the application itself, such as node app.js; NODE_OPTIONS must reach it. Of agents in Python and other languages, the log of spanscore-server and its page say what arrives.',
}

/** Resolves when the application has ended. */
async function ending(application: ChildProcess, program: string): Promise<void> {
  try {
    await once(application, 'exit')
  } catch (error) {
    throw new UsageError(`cannot start ${safeLine(program)}: ${safeLine(String(error))}`)
  }
}

/** Facts of the process that has seen a run. After the timeout, facts of the process that looks most like the application. */
async function firstFacts(folder: string, ended: Promise<void>, waitMs: number): Promise<ProcessFacts | undefined> {
  const watched = ended.then(() => 'ended' as const)
  // `ended` itself is awaited later: here its rejection only ends the loop.
  watched.catch(() => {})
  for (const endMs = Date.now() + waitMs; Date.now() < endMs;) {
    const facts = readFacts(folder).find(({ when, runs }) => when === 'late' || runs.length > 0)
    if (facts !== undefined) return facts
    const pause = new Promise((done) => setTimeout(done, POLL_MS))
    if ((await Promise.race([watched, pause])) === 'ended') break
  }
  return readFacts(folder).toSorted((a, b) => weight(b) - weight(a))[0]
}

/** Ranks processes by how likely they are the application, because a package manager that starts it is a Node.js process too. */
function weight({ tracerProvider, runs, scoring, apiVersion }: ProcessFacts): number {
  const signs = [runs.length > 0, scoring.length > 0, tracerProvider !== undefined, apiVersion !== undefined]
  return signs.filter(Boolean).length
}

function readFacts(folder: string): readonly ProcessFacts[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file): ProcessFacts => JSON.parse(readFileSync(join(folder, file), 'utf8')))
}

async function report(findings: readonly DoctorLine[], { stdout, environment }: CommandContext): Promise<ExitCode> {
  const paint = createPaint(stdout, environment)
  const lines = findings.map(({ isGood, text, cure }) => {
    const line = hanging(`${isGood ? paint('green', '✓') : paint('red', '✗')} `, text, stdout.columns)
    return cure === undefined ? line : `${line}\n${hanging('  ', cure, stdout.columns)}`
  })
  const wrong = findings.filter(({ isGood }) => !isGood).length
  const isSending = findings.some(({ text }) => /→ OTLP\w*Exporter/.test(text))
  const well = isSending
    ? "All is well. It was not checked whether anything listens at the exporter's endpoint."
    : 'All is well.'
  const sum = wrong === 0 ? well : `${wrong} of ${findings.length} lines need attention.`
  await write(stdout, `\nspanscore doctor\n${lines.join('\n')}\n${hanging('', sum, stdout.columns)}\n`)
  return wrong === 0 ? 0 : 1
}
