import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** The key of Kafka's request for records. */
const FETCH = 1
/** The number of bytes before a request, which contain its size. */
const SIZE_BYTES = 4

/** Passes requests of clients to a broker, and can drop those for records. All other requests are answered. */
export class FetchGate implements Disposable {
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((client) => this.#pass(client))
  #brokerPort = 0
  #isShut = false
  swallowed = 0

  /** @returns the port at which clients reach the broker */
  async open(brokerPort: number): Promise<number> {
    this.#brokerPort = brokerPort
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on a port
    return (this.#server.address() as AddressInfo).port
  }

  shut(): void {
    this.#isShut = true
  }

  reopen(): void {
    this.#isShut = false
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  #pass(client: Socket): void {
    const broker = connect(this.#brokerPort, '127.0.0.1')
    for (const [socket, other] of [
      [client, broker],
      [broker, client],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
    }
    broker.pipe(client)
    let waiting = Buffer.alloc(0)
    client.on('data', (chunk: Buffer) => {
      waiting = Buffer.concat([waiting, chunk])
      while (waiting.length >= SIZE_BYTES + 2) {
        const end = SIZE_BYTES + waiting.readInt32BE(0)
        if (waiting.length < end) return
        if (this.#isShut && waiting.readInt16BE(SIZE_BYTES) === FETCH) this.swallowed += 1
        else broker.write(waiting.subarray(0, end))
        waiting = waiting.subarray(end)
      }
    })
  }
}
