import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

/** Bounds of the connections of OTLP/gRPC. */
export interface ConnectionLimits {
  readonly maxConnections: number
  /** Milliseconds that a sender may take from connecting to the headers of its first call. */
  readonly firstCallTimeoutMs: number
}

/** What a call knows its connection by. */
export interface ConnectionAddress {
  readonly remoteAddress?: string | undefined
  readonly remotePort?: number | undefined
}

interface Connection {
  readonly socket: Socket
  readonly timer: NodeJS.Timeout
  openCalls: number
}

/**
 * The connections of OTLP/gRPC: the library that speaks the protocol does not limit them. One that never makes a call is closed
 * after a time. Where there are as many as there may be, a new one takes the place of the one that has made no call for longest;
 * where all of them are in the middle of a call, it is not accepted.
 */
export class GrpcConnections {
  readonly #limits: ConnectionLimits
  readonly #server: Server
  /** The one that was used last comes last. */
  readonly #connections = new Map<string, Connection>()
  /** Connections that were closed, or not accepted, because there are too many. */
  refused = 0

  /** @param speak Speaks the protocol on a new connection. */
  constructor(limits: ConnectionLimits, speak: (socket: Socket) => void) {
    this.#limits = limits
    this.#server = createServer({ noDelay: true }, (socket) => {
      // A sender that is gone is no error of the service.
      socket.on('error', () => socket.destroy())
      if (this.#accept(socket)) speak(socket)
      else socket.destroy()
    })
  }

  /** @returns The port that it listens on. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject)
        const address: AddressInfo | string | null = this.#server.address()
        resolve(typeof address === 'object' && address !== null ? address.port : port)
      })
    })
  }

  /** A call began. */
  begin(address: ConnectionAddress): void {
    const key = keyOf(address)
    const connection = this.#connections.get(key)
    if (connection === undefined) return
    clearTimeout(connection.timer)
    connection.openCalls += 1
    this.#connections.delete(key)
    this.#connections.set(key, connection)
  }

  /** A call ended. */
  end(address: ConnectionAddress): void {
    const connection = this.#connections.get(keyOf(address))
    if (connection !== undefined) connection.openCalls -= 1
  }

  /** Closes a connection, unless another call is open on it. */
  closeUnused(address: ConnectionAddress): void {
    const connection = this.#connections.get(keyOf(address))
    if (connection?.openCalls === 0) connection.socket.destroy()
  }

  /** Accepts no more connections. */
  stop(): void {
    this.#server.close()
  }

  /** Ends all connections. */
  destroy(): void {
    for (const { socket } of this.#connections.values()) socket.destroy()
  }

  #accept(socket: Socket): boolean {
    if (this.#connections.size >= this.#limits.maxConnections) {
      this.refused += 1
      if (!this.#makeRoom()) return false
    }
    const key = keyOf(socket)
    const timer = setTimeout(() => socket.destroy(), this.#limits.firstCallTimeoutMs).unref()
    const connection = { socket, timer, openCalls: 0 }
    this.#connections.set(key, connection)
    socket.once('close', () => {
      clearTimeout(timer)
      if (this.#connections.get(key) === connection) this.#connections.delete(key)
    })
    return true
  }

  #makeRoom(): boolean {
    for (const [key, { socket, openCalls }] of this.#connections) {
      if (openCalls > 0) continue
      this.#connections.delete(key)
      socket.destroy()
      return true
    }
    return false
  }
}

function keyOf({ remoteAddress = '', remotePort = 0 }: ConnectionAddress): string {
  return `${remoteAddress} ${remotePort}`
}
