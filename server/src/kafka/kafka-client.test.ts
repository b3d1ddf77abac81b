import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

import { Writer } from '@platformatic/kafka'
import { afterEach, expect, it } from 'vitest'

import { checkTopics } from './check-topics.ts'
import { clientOptions, KafkaClient } from './kafka-client.ts'
import { FIND_COORDINATOR, NEEDED_REQUESTS } from './requests.ts'

const [FETCH, METADATA, COORDINATOR, API_VERSIONS] = [1, 3, 10, 18]
const UNSUPPORTED_VERSION = 35

/** The last version that a broker knows of each request, by its key. */
type Latest = ReadonlyMap<number, number>

const UNTIL_3_1: Latest = new Map([
  [API_VERSIONS, 3],
  [METADATA, 12],
  ...NEEDED_REQUESTS.map((versions): [number, number] => [
    versions[0]?.key ?? -1,
    Math.min(...versions.map(({ version }) => version)),
  ]),
])

function writeVersions(writer: Writer, [key, latest]: readonly [number, number]): void {
  writer.appendInt16(key).appendInt16(0).appendInt16(latest)
}

/** A broker that knows requests up to some versions, and closes the connection on others, as real brokers do. */
class Broker {
  readonly #nodeId: number
  readonly #sockets = new Set<Socket>()
  readonly #server: Server
  /** The versions in which it was asked for the coordinator. */
  readonly asked: number[] = []
  latest: Latest

  constructor(nodeId: number, latest: Latest, cluster: readonly Broker[]) {
    this.#nodeId = nodeId
    this.latest = latest
    this.#server = createServer((socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      let waiting = Buffer.alloc(0)
      socket.on('data', (chunk: Buffer) => {
        waiting = Buffer.concat([waiting, chunk])
        while (waiting.length >= 4 && waiting.length >= 4 + waiting.readInt32BE(0)) {
          this.#answer(socket, waiting, cluster)
          waiting = waiting.subarray(4 + waiting.readInt32BE(0))
        }
      })
    })
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get port(): number {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on a port
    return (this.#server.address() as AddressInfo).port
  }

  /** Closes all connections, as for an upgrade, and listens again. */
  restart(latest: Latest): void {
    this.latest = latest
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
  }

  close(): void {
    this.restart(this.latest)
    this.#server.close()
  }

  #answer(socket: Socket, request: Buffer, cluster: readonly Broker[]): void {
    const [key, version, correlationId] = [request.readInt16BE(4), request.readInt16BE(6), request.readInt32BE(8)]
    const answer = Writer.create().appendInt32(correlationId)
    const isKnown = version <= (this.latest.get(key) ?? -1)
    if (!isKnown && key !== API_VERSIONS) {
      socket.destroy()
      return
    }
    if (key === API_VERSIONS) {
      const isFlexible = isKnown && version >= 3
      answer.appendInt16(isKnown ? 0 : UNSUPPORTED_VERSION)
      answer.appendArray(isKnown ? [...this.latest] : [], writeVersions, isFlexible, isFlexible)
      if (isKnown) answer.appendInt32(0)
      if (isFlexible) answer.appendTaggedFields()
    }
    if (key === METADATA) {
      answer.appendTaggedFields().appendInt32(0)
      answer.appendArray([...cluster], (writer, broker) => {
        writer.appendInt32(broker.#nodeId).appendString('127.0.0.1').appendInt32(broker.port).appendString(null)
      })
      answer
        .appendString('cluster')
        .appendInt32(1)
        .appendArray([], () => undefined)
        .appendTaggedFields()
    }
    if (key === COORDINATOR) {
      this.asked.push(version)
      answer.appendTaggedFields().appendInt32(0)
      answer.appendArray(['group'], (writer, group) => {
        writer.appendString(group).appendInt32(this.#nodeId).appendString('127.0.0.1').appendInt32(this.port)
        writer.appendInt16(0).appendString(null)
      })
      answer.appendTaggedFields()
    }
    socket.write(answer.prependLength().buffer)
  }
}

const open: { close(): unknown }[] = []

afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function startBrokers(first: Latest, second: Latest): Promise<readonly [Broker, Broker]> {
  const cluster: Broker[] = []
  const both = [new Broker(1, first, cluster), new Broker(2, second, cluster)] as const
  cluster.push(...both)
  await Promise.all(both.map((broker) => broker.listen()))
  open.push(...both)
  return both
}

function accessTo(brokers: readonly Broker[]) {
  return { brokers: brokers.map(({ port }) => `127.0.0.1:${port}`), clientId: 'test' }
}

const send = (client: KafkaClient, node: number) => client.send(node, FIND_COORDINATOR, 0, ['group'])

it('sends each broker the latest version that it knows, also while brokers are upgraded one after the other', async () => {
  const upgraded = new Map([...UNTIL_3_1, [COORDINATOR, 9] as const])
  const [newer, older] = await startBrokers(upgraded, UNTIL_3_1)
  const client = new KafkaClient(await clientOptions(accessTo([newer, older])))
  open.unshift(client)
  for (const node of [1, 2]) await send(client, node)
  expect([newer.asked, older.asked]).toEqual([[6], [4]])
  // The upgrade is taken back from one, and continues with the other.
  newer.restart(UNTIL_3_1)
  older.restart(upgraded)
  for (const node of [1, 2]) {
    await send(client, node).catch(() => undefined)
    await send(client, node)
  }
  expect([newer.asked.at(-1), older.asked.at(-1)]).toEqual([4, 6])
})

it.each([
  ['does not know a needed request', [FETCH, 12]],
  ['does not even know the question for its versions', [API_VERSIONS, 2]],
] as const)('reports at the start that a broker %s', async (_, older) => {
  const brokers = await startBrokers(UNTIL_3_1, new Map([...UNTIL_3_1, older]))
  const access = accessTo(brokers)
  const check = async () =>
    checkTopics(access, await clientOptions(access), { spans: 'spans', logs: 'logs', dead: 'dead' })
  await expect(check()).rejects.toThrow(
    'Expected brokers of Kafka 3.1 or later, got broker 2, which does not know Fetch in version 13 or 14 or 15 or 16 or 17.',
  )
  brokers[1].restart(UNTIL_3_1)
  await expect(check()).rejects.toThrow('Expected the topics spans, logs, dead, found no spans, logs, dead.')
})
