import { readFile } from 'node:fs/promises'

import { AuthenticationError, Base, findCoordinatorV4, findCoordinatorV5, findCoordinatorV6 } from '@platformatic/kafka'
import type { BaseOptions, Connection } from '@platformatic/kafka'

import { clusterIn } from './cluster.ts'
import type { Cluster } from './cluster.ts'
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
  #versions: Promise<ReadonlyMap<number, { readonly min: number; readonly max: number }>> | undefined

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
   * Sends a request to a broker, in the latest version that both sides support.
   *
   * @param versions the versions that the library supports
   */
  async send<Arguments extends unknown[], Answer>(
    node: number,
    versions: readonly Request<Arguments, Answer>[],
    ...given: Arguments
  ): Promise<Answer> {
    const request = await this.#negotiate(versions)
    const connection = (await this.#base.connectToBrokers([node])).get(node)
    if (connection === undefined) throw new Error(`Expected broker ${node} in the metadata of the cluster, got none.`)
    return await request.async(connection, ...given)
  }

  /** The broker that currently coordinates a consumer group. */
  async findCoordinator(groupId: string): Promise<number> {
    const { brokers } = await this.metadata([], true)
    let failure: unknown = new Error('Expected brokers in the metadata of the cluster, got none.')
    for (const node of brokers.keys()) {
      try {
        const { coordinators } = await this.send(
          node,
          [findCoordinatorV4.api, findCoordinatorV5.api, findCoordinatorV6.api],
          0,
          [groupId],
        )
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

  async #negotiate<Arguments extends unknown[], Answer>(
    versions: readonly Request<Arguments, Answer>[],
  ): Promise<Request<Arguments, Answer>> {
    this.#versions ??= this.#base
      .listApis()
      .then(
        (apis) =>
          new Map(apis.map(({ apiKey, minVersion, maxVersion }) => [apiKey, { min: minVersion, max: maxVersion }])),
      )
    const known = await this.#versions.catch((error: unknown) => {
      this.#versions = undefined
      throw error
    })
    const both = versions.filter(({ key, version }) => {
      const range = known.get(key)
      return range !== undefined && version >= range.min && version <= range.max
    })
    const latest = both.toSorted((left, right) => right.version - left.version)[0]
    if (latest === undefined) {
      throw new Error(
        `Expected a broker that speaks version ${versions.map(({ version }) => version).join(' or ')} of request ${versions[0]?.key}, got one that does not: Kafka 3.1 and later do.`,
      )
    }
    return latest
  }
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
      `Expected brokers that let the user ${sasl.username} in with ${sasl.mechanism} (--kafka-sasl, --kafka-user and its password), got a refusal: ${describeError(error)}.`,
      { cause: error },
    )
  }
  return new Error(
    `Expected brokers at ${brokers.join(', ')} that answer ${tls === undefined ? 'without TLS' : 'over TLS'}${sasl === undefined ? '' : ` with ${sasl.mechanism}`}, got none: ${describeError(error)}. Check --brokers, --kafka-tls, --kafka-ca, --kafka-cert and --kafka-key.`,
    { cause: error },
  )
}

/** Whether brokers answered and refused the user. A connection that closes early is not an answer. */
export function isRefusal(error: unknown): boolean {
  return isCausedBy(error, AuthenticationError) && !/closed|ECONN|timed out/i.test(describeError(error))
}

function isCausedBy(error: unknown, kind: typeof AuthenticationError): boolean {
  if (error instanceof kind) return true
  if (typeof error !== 'object' || error === null) return false
  if ('errors' in error && Array.isArray(error.errors) && error.errors.some((each) => isCausedBy(each, kind)))
    return true
  return 'cause' in error && isCausedBy(error.cause, kind)
}

/** The error in one line. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error.cause
  const message = error.message.replace(/\.$/, '')
  return inner instanceof Error ? `${message} (${describeError(inner)})` : message
}
