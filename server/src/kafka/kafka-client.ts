import { readFile } from 'node:fs/promises'

import { AuthenticationError, Base, protocolAPIsById } from '@platformatic/kafka'
import type { BaseOptions, Connection } from '@platformatic/kafka'

import { withTimeout } from '../with-timeout.ts'
import { isProtocolError } from './answered-errors.ts'
import { clusterIn } from './cluster.ts'
import type { Cluster } from './cluster.ts'
import { API_VERSIONS, FIND_COORDINATOR, NEEDED_REQUESTS } from './requests.ts'
import { decompressIntoOneBuffer } from './zstd-batches.ts'

/** How to reach the brokers. */
export interface KafkaOptions {
  /** `host:port` of at least one broker. */
  readonly brokers: readonly string[]
  /** The name of this client in the brokers' logs and quotas. */
  readonly clientId: string
  /** `undefined` for plain text. */
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string } | undefined
  /** How the client signs in; `undefined` if the brokers do not require it. */
  readonly sasl?:
    | {
        readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'
        readonly username: string
        readonly password: string
      }
    | undefined
}

/** One version of a request of Kafka's protocol, as the client library writes and reads it. */
export interface Request<Arguments extends unknown[], Answer> {
  readonly key: number
  readonly version: number
  async(connection: Connection, ...given: Arguments): Promise<Answer>
}

/** How long the start waits for brokers that do not answer. */
const CHECK_MS = 2000

/** The options of every client of the library. */
export async function clientOptions({ brokers, clientId, tls, sasl }: KafkaOptions): Promise<BaseOptions> {
  return {
    clientId,
    bootstrapBrokers: [...brokers],
    retries: 0,
    connectTimeout: 5000,
    timeout: 10_000,
    metadataMaxAge: 5000,
    ...(tls !== undefined && {
      tls: {
        ca: await textOf('--kafka-ca', tls.caFile),
        cert: await textOf('--kafka-cert', tls.certFile),
        key: await textOf('--kafka-key', tls.keyFile),
      },
    }),
    ...(sasl !== undefined && { sasl }),
  }
}

/**
 * Connections to the brokers of a cluster, and requests over them. The client library handles connections, TLS, SASL, encoding and
 * compression. Its own consumer is not used, because it can neither commit metadata nor follow a coordinator that moves.
 */
export class KafkaClient {
  readonly #base: Base
  /** By connection, because brokers are upgraded one after the other, and each of them closes its connections for that. */
  readonly #versions = new WeakMap<Connection, Promise<KnownVersions>>()

  constructor(options: BaseOptions) {
    decompressIntoOneBuffer()
    this.#base = new Base(options)
  }

  /** Brokers, and the leaders of the partitions of these topics. */
  async metadata(topics: readonly string[], isFresh = false): Promise<Cluster> {
    try {
      return await this.#base.metadata({ topics: [...topics], ...(isFresh && { forceUpdate: true }) })
    } catch (error) {
      const known = clusterIn(error, topics)
      if (known === undefined) throw error
      return known
    }
  }

  /**
   * Sends a request to a broker, in the latest version that this broker and the library support.
   *
   * @param versions the versions that the library supports
   */
  async send<Arguments extends unknown[], Answer>(
    node: number,
    versions: readonly Request<Arguments, Answer>[],
    ...given: Arguments
  ): Promise<Answer> {
    const connection = await this.#connect(node)
    const request = latestOf(versions, await this.#versionsOf(connection))
    if (request === undefined) throw tooOld(node, versions)
    return await request.async(connection, ...given)
  }

  /**
   * Checks that all brokers know the requests of workers. Brokers that do not answer soon are not checked.
   *
   * @throws Error if one is too old: what was expected, what was found
   */
  async checkVersions(): Promise<void> {
    const { brokers } = await this.metadata([])
    let failure: Error | undefined
    const check = async (node: number): Promise<void> => {
      const known = await this.#versionsOf(await this.#connect(node))
      const unknown = NEEDED_REQUESTS.find((versions) => latestOf(versions, known) === undefined)
      if (unknown !== undefined) failure ??= tooOld(node, unknown)
    }
    await withTimeout(CHECK_MS, Promise.allSettled([...brokers.keys()].map(check)))
    if (failure !== undefined) throw failure
  }

  /** The broker that currently coordinates a consumer group. */
  async findCoordinator(groupId: string): Promise<number> {
    const { brokers } = await this.metadata([], true)
    let failure: unknown = new Error('Expected brokers in the metadata of the cluster, got none.')
    for (const node of brokers.keys()) {
      try {
        const { coordinators } = await this.send(node, FIND_COORDINATOR, 0, [groupId])
        const [coordinator] = coordinators
        if (coordinator !== undefined && coordinator.nodeId >= 0) return coordinator.nodeId
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }

  async close(): Promise<void> {
    await this.#base.close()
  }

  async #connect(node: number): Promise<Connection> {
    const connection = (await this.#base.connectToBrokers([node])).get(node)
    if (connection === undefined) throw new Error(`Expected broker ${node} in the metadata of the cluster, got none.`)
    return connection
  }

  #versionsOf(connection: Connection): Promise<KnownVersions> {
    const asked = this.#versions.get(connection) ?? askForVersions(connection)
    this.#versions.set(connection, asked)
    asked.catch(() => this.#versions.delete(connection))
    return asked
  }
}

/** The first and the last version of each request that a broker knows, by the key of the request. */
type KnownVersions = ReadonlyMap<number, { readonly min: number; readonly max: number }>

async function askForVersions(connection: Connection): Promise<KnownVersions> {
  try {
    const { apiKeys } = await API_VERSIONS.async(connection, 'spanscore', '0')
    return new Map(apiKeys.map(({ apiKey, minVersion, maxVersion }) => [apiKey, { min: minVersion, max: maxVersion }]))
  } catch (error) {
    // A broker that does not know this question is too old for all others.
    if (isProtocolError(error, 'UNSUPPORTED_VERSION')) return new Map()
    throw error
  }
}

function latestOf<Each extends { readonly key: number; readonly version: number }>(
  versions: readonly Each[],
  known: KnownVersions,
): Each | undefined {
  return versions
    .filter(({ key, version }) => {
      const range = known.get(key)
      return range !== undefined && version >= range.min && version <= range.max
    })
    .toSorted((left, right) => right.version - left.version)[0]
}

function tooOld(node: number, versions: readonly { readonly key: number; readonly version: number }[]): Error {
  const name = protocolAPIsById[versions[0]?.key ?? -1] ?? 'a request'
  return new Error(
    `Expected brokers of Kafka 3.1 or later, got broker ${node}, which does not know ${name} in version ${versions.map(({ version }) => version).join(' or ')}.`,
  )
}

async function textOf(option: string, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const got = error instanceof Error ? error.message : 'none'
    throw new Error(`${option} ${path}: expected a file that can be read, got ${got}.`, { cause: error })
  }
}

/** An error of the first connection, with what was expected and what to do. */
export function explained(error: unknown, { brokers, tls, sasl }: KafkaOptions): Error {
  if (sasl !== undefined && isRefusal(error)) {
    return new Error(
      `Expected brokers that let the user ${sasl.username} in with ${sasl.mechanism} (--kafka-sasl, --kafka-user and its password), got a refusal: ${describeKafkaError(error)}.`,
      { cause: error },
    )
  }
  return new Error(
    `Expected brokers at ${brokers.join(', ')} that answer ${tls === undefined ? 'without TLS' : 'over TLS'}${sasl === undefined ? '' : ` with ${sasl.mechanism}`}, got none: ${describeKafkaError(error)}. Check --brokers, --kafka-tls, --kafka-ca, --kafka-cert and --kafka-key.`,
    { cause: error },
  )
}

/** Whether brokers answered and refused the user. A connection that closes early is not an answer. */
export function isRefusal(error: unknown): boolean {
  return isCausedBy(error, AuthenticationError) && !/closed|ECONN|timed out/i.test(describeKafkaError(error))
}

function isCausedBy(error: unknown, kind: typeof AuthenticationError): boolean {
  if (error instanceof kind) return true
  if (typeof error !== 'object' || error === null) return false
  if ('errors' in error && Array.isArray(error.errors) && error.errors.some((each) => isCausedBy(each, kind)))
    return true
  return 'cause' in error && isCausedBy(error.cause, kind)
}

/** The error in one line. */
export function describeKafkaError(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error.cause
  const message = error.message.replace(/\.$/, '')
  return inner instanceof Error ? `${message} (${describeKafkaError(inner)})` : message
}
