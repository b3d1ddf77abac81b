import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { Server as HttpServer } from 'node:http'
import { hostname, networkInterfaces } from 'node:os'

import type { SourceLog } from 'spanscore/engine'

import { ConfigWatcher } from './config/config-watcher.ts'
import { ALERTS_WITHOUT_METRICS, hasAlerts, isConfigData, loadServiceConfig } from './config/load-config.ts'
import type { LoadedConfig } from './config/load-config.ts'
import { closedPage, forgetPerson } from './forget/forget.ts'
import { answerForgetRequests } from './forget/forget-requests.ts'
import type { Person } from './person.ts'
import { FeedbackIntake } from './feedback.ts'
import { healthOf, readinessOf } from './health.ts'
import type { Condition } from './health.ts'
import { openDataFolder } from './log/data-folder.ts'
import { MemoryLog } from './log/memory-log.ts'
import type { SpanIdsOf } from './log/migrations.ts'
import { SqliteLog } from './log/sqlite-log.ts'
import type { GivenFiles } from './given-files.ts'
import { rateLimited } from './log-line.ts'
import type { Report } from './log-line.ts'
import { describeLackOfMemory } from './memory.ts'
import { Conversations } from './conversations/conversations.ts'
import { listen } from './listen.ts'
import { isLoopback } from './receive/access.ts'
import type { AccessOptions } from './receive/access.ts'
import { BytesInFlight } from './receive/bytes-in-flight.ts'
import { Connections } from './receive/connections.ts'
import { GrpcReceiver } from './receive/grpc-receiver.ts'
import { createHttpReceiver } from './receive/http-receiver.ts'
import type { HttpLimits, OtherPaths, TlsOptions } from './receive/http-receiver.ts'
import { Page, pageAddressPath, pageToken } from './page/page.ts'
import type { PageToken } from './page/page.ts'
import type { PageOptions } from './page/messages.ts'
import { INSTANCE_HEADER, Receiver } from './receive/receive.ts'
import { RequestReader } from './receive/read-request.ts'
import type { RecordLimits } from './receive/read-request.ts'
import { describeJudges, JudgeTroubles } from './score/judge-troubles.ts'
import { ReplaceableScorer } from './score/replaceable-scorer.ts'
import { serveHealth } from './serve-health.ts'
import type { HealthServer } from './serve-health.ts'
import { createLogExporter, createSpanExporter } from './send/acknowledged-exporter.ts'
import { createAnnotationExporter } from './send/annotation-exporter.ts'
import type { PhoenixDestination } from './send/annotation-exporter.ts'
import type { Destination } from './send/acknowledged-exporter.ts'
import { Forwarder } from './send/forwarder.ts'
import { Outbox } from './send/outbox.ts'
import { ServiceMeters } from './send/service-meters.ts'
import { ServiceMetrics } from './send/service-metrics.ts'
import { TakenSignals } from './send/taken-signals.ts'
import { Service } from './service.ts'
import { withTimeout } from './with-timeout.ts'
import { HeldTraces } from './traces/held-traces.ts'
import type { HeldTracesOptions } from './traces/held-traces-options.ts'

/** Options of a service. */
export interface ServerOptions {
  /** The address to listen on. */
  readonly host: string
  /** 0 means any free port. */
  readonly httpPort: number
  /** 0 means any free port. */
  readonly grpcPort: number
  /** The port of health, readiness and metrics, without TLS and token; 0 means any free port. @default none */
  readonly healthPort?: number | undefined
  /** The destination of scores; `undefined` if only the page shows them. */
  readonly to: Destination | undefined
  /** Where scores become annotations as well. @default none */
  readonly phoenix?: PhoenixDestination | undefined
  /** Whether requests are forwarded to the destination unchanged. */
  readonly forwards: boolean
  /** The folder of the log; `undefined` keeps it in memory. */
  readonly dataFolder: string | undefined
  /** The configuration of scorers; `undefined` uses the code scorers that need no expectation. */
  readonly configPath: string | undefined
  /** Who may send. */
  readonly access: AccessOptions
  /** `undefined` for plain text. */
  readonly tls: TlsOptions | undefined
  /** Limits of requests and of the log. */
  readonly limits: HttpLimits &
    RecordLimits & {
      /** Maximum bytes of the log before it accepts no more. */
      readonly maxLogBytes: number
      /** Maximum milliseconds that anything is kept. */
      readonly retentionMs: number
    }
  /** How long runs may take, and how many spans may wait. */
  readonly traces: HeldTracesOptions
  /** For so many milliseconds no run may come before a conversation is over. */
  readonly idleMs: number
  /** Certificates and tokens, which are read again when they change. @default they do not change */
  readonly files?: GivenFiles | undefined
  /** Receives lines for the operator. */
  readonly report: Report
  /** The page that shows runs; it needs a data folder. @default none */
  readonly page?: PageOptions | undefined
  /** Maximum number of runs with undelivered scores before scoring pauses. @default 2000 */
  readonly maxWaitingScores?: number
}

/** A running service. */
export interface RunningServer {
  /** The port of OTLP/HTTP. */
  readonly httpPort: number
  /** The port of OTLP/gRPC. */
  readonly grpcPort: number
  /** The port of health, readiness and metrics; `undefined` if there is none. */
  readonly healthPort: number | undefined
  /** The address of the page, with its token; `undefined` if there is no page. */
  readonly pageUrl: string | undefined
  /** The token of the page, and the file that holds it; `undefined` if there is no page. */
  readonly pageToken: PageToken | undefined
  /** What was counted so far, for tests and diagnosis. */
  readonly counts: () => unknown
  /** Accepts no more requests, delivers finished scores, and ends. Incomplete runs stay on the log. */
  stop(timeoutMs?: number): Promise<void>
}

const STOP_TIMEOUT_MS = 10_000

/** How long open requests may take when the service stops. */
const CLOSE_MS = 1000

/** How long the last metrics may take. */
const METRICS_MS = 2000

/**
 * Starts the service.
 *
 * @throws Error if it cannot start: what was expected, what came, and what to do
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const report = rateLimited(options.report)
  const reportSending = rateLimited(options.report, 'SPANSCORE_EXPORT_FAILED')
  const reportJudge = rateLimited(options.report, 'SPANSCORE_JUDGE')
  checkAddress(options)
  checkLimits(options)
  const config = loadServiceConfig(options.configPath, options.report)
  let page: Page | undefined
  const instance = randomUUID()
  const to = options.to && {
    ...options.to,
    headers: { ...options.to.headers, [INSTANCE_HEADER]: instance },
  }
  const meters = new ServiceMeters(instance, to, reportSending)
  const scorer = new ReplaceableScorer({
    options: config.options,
    redactor: config.redactor,
    meters,
    onScore: (scored) => page?.scored(scored),
  })
  const reader = await RequestReader.create(options.limits)
  const everything = await RequestReader.create(options.limits, { skipsOrdinary: false })
  const log = openLog(options, reader)
  page = await openPage(options, config, report).catch((error: unknown) => {
    log.close()
    throw error
  })
  const buffer: HeldTraces = new HeldTraces(options.traces)
  const announce = ({ source, options: configured }: LoadedConfig): void => {
    options.report(`Scores with ${scorer.current.scorerIds.join(', ')} (${source}).`)
    for (const line of describeJudges(scorer.current)) options.report(line, 'info', 'SPANSCORE_JUDGE')
    if (to === undefined && hasAlerts(configured)) options.report(ALERTS_WITHOUT_METRICS)
  }
  const { configPath } = options
  const watcher =
    configPath !== undefined && isConfigData(configPath)
      ? new ConfigWatcher({
          path: configPath,
          text: config.text,
          take: (changed) => {
            scorer.replace(changed)
            page?.configured(changed.text, changed.redact)
            announce(changed)
          },
          report: rateLimited(options.report, 'SPANSCORE_CONFIG'),
        })
      : undefined
  const judges = new JudgeTroubles(() => scorer.current, reportJudge)
  page?.namesJudgesBy(() => judges.now)
  const taken = new TakenSignals()
  const outbox = new Outbox({
    logs: createLogExporter(to, taken),
    spans: createSpanExporter(to, taken),
    annotations: options.phoenix && (await createAnnotationExporter(options.phoenix)),
    report: reportSending,
    now: monotonicMs,
    ...(options.maxWaitingScores !== undefined && { maxWaiting: options.maxWaitingScores }),
  })
  const conversations = new Conversations({
    turns: log.turns,
    scorer,
    outbox,
    take: () => scorer.take(),
    idleMs: options.idleMs,
    stored: page && (() => page?.stored() ?? Promise.resolve()),
    report,
  })
  page?.countsConversationsBy(() => ({
    openConversations: conversations.open,
    waitingConversations: conversations.waiting,
  }))
  const forwarder = to === undefined ? undefined : new Forwarder(log, to, taken, reportSending)
  const service = new Service({
    log,
    reader,
    buffer,
    scorer,
    outbox,
    take: () => scorer.take(),
    report,
    nowMs: monotonicMs,
    expiresBeforeMs: () => epochMs() - options.limits.retentionMs,
    conversations,
    observer: page,
  })
  const unavailable = (): string | undefined => {
    if (log.heldBytes > options.limits.maxLogBytes) {
      return `The log holds more than ${options.limits.maxLogBytes} bytes; send again later.`
    }
    return buffer.isFull
      ? `${options.traces.maxSpans} spans wait for their run to be complete, or for its scores to be delivered; send again later.`
      : undefined
  }
  const inFlight = new BytesInFlight(options.limits.maxReceivingBytes)
  const onSaid = async (said: readonly SourceLog[]): Promise<void> => {
    for (const each of said) page?.said(each)
    await page?.stored()
  }
  const show = async (feedback: SourceLog): Promise<void> => {
    page?.feedback(feedback)
    await page?.stored()
  }
  const receiver = new Receiver({
    log,
    reader,
    forwards: options.forwards,
    inFlight,
    unavailable,
    isFullFor: (sender) => buffer.isFullFor(sender),
    report,
    onSaid,
    instance,
  })
  const feedback = new FeedbackIntake({ outbox, rules: () => scorer.current.rules, show, nowMs: epochMs })
  const condition = (): Condition => ({
    idleMs: monotonicMs() - service.latestSweepMs,
    undeliveredMs: outbox.failingForMs,
    undelivered: outbox.trouble,
    files: options.files?.troubles,
    isOutboxFull: outbox.isFull,
    unavailable: unavailable() ?? log.failure,
    page: page?.trouble,
    configuration: watcher?.trouble,
    judges: judges.now,
  })
  const { dataFolder } = options
  const runsOfPage = page ?? closedPage(dataFolder ?? '')
  const drop = (traceIds: ReadonlySet<string>): void => service.forget(traceIds)
  const forget = (person: Person, isCount: boolean) =>
    forgetPerson({ log, reader: everything, page: runsOfPage, drop }, person, isCount)
  page?.forgetsBy(forget)
  const { access, limits, tls } = options
  const { maxConnections, requestTimeoutMs: firstCallTimeoutMs } = limits
  const httpConnections = new Connections({ maxConnections, firstCallTimeoutMs })
  const grpcConnections = new Connections({ maxConnections, firstCallTimeoutMs })
  const otherPaths: OtherPaths = {
    read: (path, maySend) => {
      if (path === '/health') return healthOf(condition())
      return path === '/ready' ? readinessOf(condition(), maySend) : undefined
    },
    takeFeedback: (given) => feedback.take(given),
  }
  const http = createHttpReceiver(receiver, access, limits, tls, otherPaths, httpConnections)
  const grpc = new GrpcReceiver(receiver, access, limits, tls, grpcConnections)
  const metrics = new ServiceMetrics(
    {
      receiver,
      buffer,
      outbox,
      forwarder,
      feedback,
      service,
      conversations,
      log,
      configTrouble: () => watcher?.trouble,
    },
    meters,
  )
  let health: HealthServer | undefined
  try {
    service.start()
    const stopAnswering = dataFolder === undefined ? undefined : answerForgetRequests(dataFolder, forget)
    const forwarding = setInterval(() => forwarder?.wake(), 50)
    const httpPort = await listen(http, options.host, options.httpPort, '--http-port')
    const grpcPort = await grpc.listen(options.host, options.grpcPort)
    health =
      options.healthPort === undefined
        ? undefined
        : await serveHealth(options.host, options.healthPort, answersOn(condition, meters), '--health-port')
    refuseSelf(options, [httpPort, grpcPort])
    const shownHost = options.host.includes(':') ? `[${options.host}]` : options.host
    page?.takesSpansAt(`http${options.tls === undefined ? '' : 's'}://${shownHost}:${httpPort}`)
    announce(config)
    return {
      httpPort,
      grpcPort,
      healthPort: health?.port,
      pageUrl: page?.url,
      pageToken: page?.token,
      counts: () => ({
        received: {
          ...receiver.counts,
          refused: Object.fromEntries(receiver.counts.refused),
          refusedConnections: httpConnections.refused + grpcConnections.refused,
          bytesInFlight: inFlight.bytes,
        },
        service: service.counts,
        traces: { ...buffer.counts, heldSpans: buffer.heldSpans, contentBytes: buffer.contentBytes },
        outbox: { ...outbox.counts, waiting: outbox.size },
        forward: { ...forwarder?.counts, waiting: log.waitingToForward },
        ledger: scorer.current.ledger(),
        conversations: { open: conversations.open, waiting: conversations.waiting, leftOut: conversations.leftOut },
      }),
      stop: async (timeoutMs = STOP_TIMEOUT_MS) => {
        const endMs = monotonicMs() + timeoutMs
        const leftMs = (): number => Math.max(0, endMs - monotonicMs())
        clearInterval(forwarding)
        stopAnswering?.()
        health?.close()
        watcher?.stop()
        judges.stop()
        options.files?.stop()
        await Promise.all([closeHttp(http), grpc.close(Math.min(CLOSE_MS, leftMs()))])
        forwarder?.stop()
        await service.stop(leftMs())
        // A possibly unavailable destination delays nothing for long: metrics are small, and the next process continues counting.
        await withTimeout(Math.min(METRICS_MS, leftMs()), Promise.all([metrics.shutdown(), scorer.shutdown()]))
        await page?.stop(leftMs())
      },
    }
  } catch (error) {
    watcher?.stop()
    health?.close()
    http.close()
    await grpc.close(0)
    await service.stop(0)
    await page?.stop(0)
    throw error
  }
}

/** Without a token, readiness says only whether it is ready. */
function answersOn(condition: () => Condition, meters: ServiceMeters): Parameters<typeof serveHealth>[2] {
  return {
    health: () => healthOf(condition()),
    ready: () => readinessOf(condition(), false),
    metrics: (request, response) => meters.scrape(request, response),
  }
}

/** The page stores runs in the data folder, so there is no page without one. */
async function openPage(
  options: ServerOptions,
  config: LoadedConfig,
  report: (line: string) => void,
): Promise<Page | undefined> {
  const { page, dataFolder, limits, configPath } = options
  if (page === undefined) return undefined
  const lack = describeLackOfMemory()
  if (lack !== undefined) report(lack)
  if (dataFolder === undefined) {
    throw new Error('--page: expected a data folder (--data), which holds the runs that the page shows; got --memory.')
  }
  const configText = configPath !== undefined && isConfigData(configPath) ? config.text : undefined
  const token = pageToken(dataFolder)
  const started = await Page.start(
    { options: page, folder: dataFolder, limits, configPath, configText, redact: config.redact },
    token,
    report,
    (line) => options.report(line, 'info', 'audit'),
  )
  // For the command page-address: the service may have been given any port.
  writeFileSync(pageAddressPath(dataFolder), `${started.place}\n`)
  options.files
    ?.read('page-token', () => pageToken(dataFolder).tokens)
    .onChange((tokens) => started.replaceTokens(tokens))
  return started
}

function epochMs(): number {
  return Date.now()
}

function monotonicMs(): number {
  return performance.now()
}

/** Share of the log's size that runs of conversations may take. */
const TURN_SHARE = 0.25

function openLog({ dataFolder, limits }: ServerOptions, reader: RequestReader): MemoryLog | SqliteLog {
  const maxTurnBytes = TURN_SHARE * limits.maxLogBytes
  if (dataFolder === undefined) return new MemoryLog(epochMs, maxTurnBytes)
  const spanIdsOf: SpanIdsOf = (record) => {
    const { spans, logs } = reader.decode(record)
    return [...spans, ...logs].map((each) => each?.spanId)
  }
  return new SqliteLog(openDataFolder(dataFolder, spanIdsOf), epochMs, maxTurnBytes)
}

/** On an address other than loopback, senders must authenticate. */
function checkAddress({ host, access }: ServerOptions): void {
  if (isLoopback(host) || access.token !== undefined || access.hasClientCertificates) return
  throw new Error(
    `--host ${host}: expected a loopback address, or a token (--token-file) or client certificates (--tls-client-ca) for any other; got neither.`,
  )
}

/** A single request must fit into the total limit, or it would never be accepted. */
function checkLimits({ limits: { maxBodyBytes, maxDecompressedBytes, maxReceivingBytes } }: ServerOptions): void {
  const needed = maxBodyBytes + maxDecompressedBytes
  if (maxReceivingBytes >= needed) return
  throw new Error(
    `limits: expected receivingMiB of at least bodyMiB and decompressedMiB together (${needed} bytes), got ${maxReceivingBytes} bytes.`,
  )
}

/** Refuses to send scores to itself, because they would be received again. */
function refuseSelf({ to, host }: ServerOptions, ports: readonly number[]): void {
  if (to === undefined) return
  const url = new URL(to.url)
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  const name = url.hostname.replace(/^\[|\]$/g, '')
  if (ports.includes(port) && isOwnName(name, host)) {
    throw new Error(`--to ${to.url}: expected the endpoint of a backend, got the address of this service itself.`)
  }
}

/** Whether a service that listens on `host` is reached by a name, as far as that is known without asking anybody. */
function isOwnName(name: string, host: string): boolean {
  if (isLoopback(name) || isEveryAddress(name) || name === host) return true
  const addresses = Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address))
  return isEveryAddress(host) && [hostname().toLowerCase(), ...addresses].includes(name)
}

function isEveryAddress(name: string): boolean {
  return name === '0.0.0.0' || name === '::'
}

function closeHttp(server: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
    setTimeout(() => server.closeAllConnections(), CLOSE_MS).unref()
  })
}
