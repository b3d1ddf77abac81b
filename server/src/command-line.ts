import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'

import { useProxies } from 'spanscore/engine'

import { backUp } from './backup.ts'
import { checkStart } from './check.ts'
import { loadServiceConfig } from './config/load-config.ts'
import { forgetInFolder } from './forget/forget-command.ts'
import { MIN_PAGE_TOKEN, pageAddressPath, pageTokenPath, withToken } from './page/page.ts'
import { readPerson } from './person.ts'
import { readGiven, readTokens } from './read-given.ts'
import { GivenFiles } from './given-files.ts'
import { LOG_LEVELS, reportLine } from './log-line.ts'
import type { LogCode, LogLevel } from './log-line.ts'
import { toOptions, toWorkerOptions } from './given-options.ts'
import type { GivenOptions } from './given-options.ts'
import { startServer } from './start.ts'
import type { RunningServer } from './start.ts'
import { checkVariables } from './variables.ts'
import { VERSION } from './version.ts'

const program = new Command('spanscore-server')
  .description('Takes OTLP from agents in any language, scores their runs, and sends the scores back as OTLP.')
  .version(VERSION, '-v, --version', 'print the version')
  .helpOption('-h, --help', 'print this help')
  .exitOverride()
  .option(
    '--to <url>',
    'OTLP/HTTP endpoint that scores go to, such as http://localhost:4319; required without --page',
    url,
  )
  .option(
    '--header <name=value>',
    'header for that endpoint; may be repeated. Keys belong into the variable OTEL_EXPORTER_OTLP_HEADERS, because others see arguments',
    collect,
    [],
  )
  .option('--to-ca <file>', 'certificate authority of that endpoint, PEM')
  .option('--to-cert <file>', 'certificate of this client for that endpoint, PEM')
  .option('--to-key <file>', 'its key, PEM')
  .option(
    '--phoenix <url>',
    'base URL of a Phoenix whose spans get the scores as annotations too, such as http://localhost:6006; its key belongs into PHOENIX_API_KEY',
    url,
  )
  .option('--forward', 'pass spans and log records on to that endpoint, unchanged', false)
  .option('--config <file>', 'scorers and limits: YAML or JSON for prebuilt scorers, a module for your own')
  .option('--data <folder>', 'where spans wait until their run is scored', 'spanscore-data')
  .option('--memory', 'keep them in memory: spans of runs that are not scored are lost when the process ends', false)
  .option('--host <address>', 'address to listen on', '127.0.0.1')
  .option('--http-port <port>', 'port of OTLP/HTTP', port, 4318)
  .option('--grpc-port <port>', 'port of OTLP/gRPC', port, 4317)
  .option('--health-port <port>', 'a port for /health, /ready and /metrics without TLS and token, on --host', port)
  .addOption(new Option('--log-format <format>', 'how lines are written').choices(['text', 'json']).default('text'))
  .addOption(
    new Option('--log-level <level>', 'the least serious lines that are written; lines of the audit always are')
      .choices(LOG_LEVELS)
      .default('info'),
  )
  .option('--check', 'check the configuration and the destination, and end: nothing is scored', false)
  .option('--token-file <file>', 'file with the token that senders must show; or the variable SPANSCORE_SERVER_TOKEN')
  .option(
    '--allowed-host <name>',
    'name under which the service is reached, beside localhost; may be repeated',
    collect,
    [],
  )
  .option('--tls-cert <file>', 'certificate of the service, PEM')
  .option('--tls-key <file>', 'its key, PEM')
  .option('--tls-client-ca <file>', 'certificate authority that must have signed the certificates of senders, PEM')
  .option('--settle <seconds>', 'a run is scored when none of its spans has arrived for so long', number, 10)
  .option('--orphans <seconds>', 'maximum time that spans wait for their parent', number, 300)
  .option('--linger <seconds>', 'how long a scored run waits for late spans', number, 300)
  .option('--idle <seconds>', 'a conversation is over when no run of it came for so long', positive, 900)
  .option('--max-days <days>', 'maximum time that anything is kept, scored or not', positive, 7)
  .option('--page', 'show runs, scores and why on a page; keeps runs in the data folder', false)
  .option('--page-port <port>', 'port of the page', port, 4320)
  .option('--page-url <url>', 'where a proxy shows the page, such as https://company.example/spanscore/', url)
  .option(
    '--page-user-header <name>',
    'header in which that proxy names the user, who is then in the log with what was opened, taken or changed',
  )
  .option('--page-days <days>', 'how long the page keeps runs', positive, 14)
  .option(
    '--page-size <MiB>',
    'maximum size of what the page keeps; the oldest runs are deleted above it',
    positive,
    2048,
  )
  .option('--jaeger <url>', 'base URL of a Jaeger UI that the page links to, such as http://localhost:16686', url)
  .addOption(
    new Option('--role <role>', 'service: takes OTLP itself; worker: reads spans from Kafka')
      .choices(['service', 'worker'])
      .default('service'),
  )
  .option('--brokers <list>', 'worker: host:port of brokers, with commas between')
  .option('--group <name>', 'worker: the consumer group that shares the partitions', 'spanscore')
  .option('--topic-prefix <prefix>', 'worker: topics are <prefix>.spans, .logs and .dead', 'spanscore')
  .option('--kafka-tls', 'worker: reach brokers over TLS', false)
  .option('--kafka-ca <file>', 'worker: certificate authority of the brokers, PEM')
  .option('--kafka-cert <file>', 'worker: certificate of this client, PEM')
  .option('--kafka-key <file>', 'worker: its key, PEM')
  .addOption(
    new Option('--kafka-sasl <mechanism>', 'worker: SASL mechanism to sign in with').choices([
      'PLAIN',
      'SCRAM-SHA-256',
      'SCRAM-SHA-512',
    ]),
  )
  .option('--kafka-user <name>', 'worker: user name for SASL')
  .option('--kafka-password-file <file>', 'worker: file with the password; or the variable SPANSCORE_KAFKA_PASSWORD')
  .option('--session-timeout <seconds>', 'worker: time without a heartbeat after which others take over', positive, 10)
  .option('--carry-after <seconds>', 'worker: age at which an open run is appended again', number, 3600)
  .action(async (given: GivenOptions) => {
    await run(given)
  })

program
  .command('forget')
  .description('Deletes what a data folder has of a user, a conversation or a trace, whether the service runs or not.')
  .helpOption('-h, --help', 'print this help')
  .option('--data <folder>', 'the data folder of the service', 'spanscore-data')
  .option('--user <id>', 'the id of a user, as in the spans')
  .option('--conversation <id>', 'the id of a conversation')
  .option('--trace <id>', 'the id of a trace: 32 hex digits')
  .option('--yes', 'delete it; without this, it is only counted', false)
  .action(async (_: unknown, command: Command) => {
    const given: GivenToForget = command.optsWithGlobals()
    const { trace, conversation, user } = given
    const person = readPerson({ trace, conversation, user })
    const { limits } = loadServiceConfig(undefined, () => undefined)
    const { traces, runs } = await forgetInFolder(given.data, person, !given.yes, limits)
    const what = `${counted(runs, 'run')} of the page, and ${counted(traces, 'trace')} in all`
    say(given.yes ? `Deleted ${what}.` : `Found ${what}. Add --yes to delete them; nothing brings them back.`)
  })

program
  .command('backup')
  .description('Copies a data folder as it is at one moment, whether the service runs or not.')
  .helpOption('-h, --help', 'print this help')
  .option('--data <folder>', 'the data folder of the service', 'spanscore-data')
  .requiredOption('--out <folder>', 'an empty folder for the copy')
  .action(async (_: unknown, command: Command) => {
    const { data, out }: { readonly data: string; readonly out: string } = command.optsWithGlobals()
    say(`Copied ${(await backUp(data, out)).join(', ')} to ${out}.`)
  })

program
  .command('page-address')
  .description('Prints the address of the page with its token, for the browser of somebody who may see all.')
  .helpOption('-h, --help', 'print this help')
  .option('--data <folder>', 'the data folder of the service', 'spanscore-data')
  .option('--url <url>', 'where the page is, if not where the service last served it', url)
  .action((_: unknown, command: Command) => {
    const { data, url: place }: { readonly data: string; readonly url?: string } = command.optsWithGlobals()
    const [token] = readTokens('--data', pageTokenPath(data), MIN_PAGE_TOKEN)
    const served = place ?? readGiven('--data', pageAddressPath(data)).trim()
    process.stdout.write(`${withToken(served, token)}\n`)
  })

type GivenToForget = Readonly<Record<'trace' | 'conversation' | 'user', string | undefined>> & {
  readonly data: string
  readonly yes: boolean
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

let format: 'text' | 'json' = 'text'
let leastLevel: LogLevel = 'info'

let stopping: { readonly what: string; readonly end: () => Promise<void> } | undefined
// From the first moment on: Linux ignores a signal that the first process of a container does not handle.
process.on('SIGTERM', onSignal)
process.on('SIGINT', onSignal)

await program.parseAsync().catch((error: unknown) => {
  // Help and version are thrown too. Commander has already printed what is wrong with the arguments.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2)
  say(error instanceof Error ? error.message : String(error), 'error')
  // Parts that were started keep the process alive.
  process.exit(2)
})

async function run(given: GivenOptions): Promise<void> {
  format = given.logFormat
  leastLevel = given.logLevel
  // Otherwise Node.js prints the notices of scoring, in lines of its own form.
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message, code }: Error & { readonly code?: LogCode }) =>
    say(message, 'warn', name === 'spanscore' ? code : undefined),
  )
  checkVariables(process.env, (line) => say(line, 'info', 'SPANSCORE_ENVIRONMENT'))
  for (const line of useProxies(process.env)) say(line)
  const files = new GivenFiles(say)
  process.on('SIGHUP', () => files.check())
  // It is read again where it takes effect, and says then what it is.
  const { limits } = loadServiceConfig(given.config, () => undefined)
  if (given.check) {
    const { configPath, to } = toOptions(given, limits, say, files)
    process.exit((await checkStart({ configPath, to }, say)) ? 0 : 2)
  }
  if (given.role === 'worker') {
    // Loaded lazily: a service on one machine needs no Kafka client.
    const { startWorker } = await import('./start-worker.ts')
    const worker = await startWorker(toWorkerOptions(given, limits, say, files))
    say(
      `Reads ${given.topicPrefix}.spans and ${given.topicPrefix}.logs from ${given.brokers}. Scores go to ${given.to}.`,
    )
    say(`Answers /health and /ready on http://${bracketed(given.host)}:${worker.httpPort}.`)
    stopOnSignals('waits for judges that are asked, commits what is scored and leaves the group', () => worker.stop())
    return
  }
  const server = await startServer(toOptions(given, limits, say, files))
  say(
    `Takes OTLP/HTTP on http${given.tlsCert === undefined ? '' : 's'}://${bracketed(given.host)}:${server.httpPort} and OTLP/gRPC on port ${server.grpcPort}.`,
  )
  const scoresTo = given.to === undefined ? 'are shown on the page only' : `go to ${given.to}`
  say(
    `Scores ${scoresTo}${given.forward ? ', and so do the spans' : ''}. Spans wait ${given.memory ? 'in memory' : `in ${given.data}`}.`,
  )
  if (server.healthPort !== undefined)
    say(`Answers /health, /ready and /metrics on http://${bracketed(given.host)}:${server.healthPort}.`)
  if (server.pageUrl !== undefined) say(`The page is at ${pageAddress(server.pageUrl, server.pageToken)}`)
  stopOnSignals('delivers what is scored. What is not complete stays on the log', () => server.stop())
}

/** The form of an IPv6 address in a URL. */
function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

function pageAddress(whole: string, token: RunningServer['pageToken']): string {
  return token === undefined || token.isNew
    ? whole
    : `${whole.split('#')[0]} with the token in ${token.path}, which page-address prints`
}

/** @param end finishes the work that was begun */
function stopOnSignals(what: string, end: () => Promise<void>): void {
  stopping = { what, end }
}

function onSignal(): void {
  // Before the start is complete there is nothing to finish, and a second signal ends the process immediately.
  if (stopping === undefined) process.exit(1)
  const { what, end } = stopping
  stopping = undefined
  say(`Stops: ${what}.`)
  void end().then(() => process.exit(0))
}

/** Writes one line. What `limited` reports is trouble. */
function say(line: string, level: LogLevel = 'info', code?: LogCode): void {
  if (code !== 'audit' && LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(leastLevel)) return
  process.stderr.write(
    format === 'json'
      ? `${JSON.stringify({ time: new Date().toISOString(), level, code, message: reportLine(line) })}\n`
      : `spanscore-server: ${code === 'audit' ? 'audit: ' : ''}${line}\n`,
  )
}

function collect(value: string, known: readonly string[]): readonly string[] {
  return [...known, value]
}

function number(text: string): number {
  const value = Number(text)
  if (!Number.isFinite(value) || value < 0 || text.trim() === '')
    throw new InvalidArgumentError('Expected a number of 0 or more.')
  return value
}

function positive(text: string): number {
  const value = number(text)
  if (value === 0) throw new InvalidArgumentError('Expected a number above 0.')
  return value
}

function port(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value > 65_535) throw new InvalidArgumentError('Expected a port from 0 to 65535.')
  return value
}

function url(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new InvalidArgumentError('Expected a URL that begins with http:// or https://.')
  return text
}
