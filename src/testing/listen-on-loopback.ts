import type { Server } from 'node:http'

/** A server that listens on the loopback interface. */
export interface Listening extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string
  /** Closes all connections, including hanging ones. */
  close(): Promise<void>
}

/** Starts the server on loopback, on the given port, or on a free one if it is 0. Rejects if it cannot listen. */
export async function listenOnLoopback(server: Server, port: number): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve())
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('expected a TCP address to listen on')
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { origin: `http://127.0.0.1:${address.port}`, close, [Symbol.asyncDispose]: close }
}
