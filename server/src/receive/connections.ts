import type { Socket } from 'node:net'

/** Limits of the connections of one protocol. */
export interface ConnectionLimits {
  /** Maximum number of open connections. */
  readonly maxConnections: number
  /** Maximum milliseconds between a sender's connection and the headers of its first call. */
  readonly firstCallTimeoutMs: number
}

/** Identifies a call's connection. */
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
 * The connections of one protocol. One that never makes a call is closed after a time. At the limit, a new connection replaces the one that
 * has been without a call for longest; if all of them have open calls, it is refused. Otherwise anybody could keep all others out with
 * connections that cost nothing.
 */
export class Connections {
  readonly #limits: ConnectionLimits
  /** In the order of their last use. */
  readonly #connections = new Map<string, Connection>()
  /** Connections that were closed or refused at the limit. */
  refused = 0

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  /** A sender has connected. @returns false if it was refused */
  accept(socket: Socket): boolean {
    // A sender's disconnection is not an error of the service.
    socket.on('error', () => socket.destroy())
    if (this.#connections.size >= this.#limits.maxConnections) {
      this.refused += 1
      if (!this.#makeRoom()) {
        socket.destroy()
        return false
      }
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

  /** Ends all connections. */
  destroy(): void {
    for (const { socket } of this.#connections.values()) socket.destroy()
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
