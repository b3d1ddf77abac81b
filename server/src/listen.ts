import type { AddressInfo, Server } from 'node:net'

/** What errors of `listen` mean for the operator. */
const MEANINGS: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'expected a port that is free, got one that another program uses. Stop that program, or choose another port.',
  EACCES: 'expected a port that this user may open, got one that is reserved. Choose a port above 1023.',
}

/**
 * Starts a server.
 *
 * @param port 0 means any free port
 * @param option the option of the command line that gives the port
 * @returns the port
 * @throws Error if it cannot listen there: what was expected, what came, and what to do
 */
export function listen(server: Server, host: string, port: number, option: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      const meaning = MEANINGS[error.code ?? '']
      reject(
        new Error(
          meaning === undefined
            ? `--host ${host}, ${option} ${port}: expected an address of this machine, got an error: ${error.message}.`
            : `${option} ${port}: ${meaning}`,
          { cause: error },
        ),
      )
    }
    server.once('error', failed)
    server.listen(port, host, () => {
      server.off('error', failed)
      const address: AddressInfo | string | null = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}
