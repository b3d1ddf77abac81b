import { startServer } from '../src/start.ts'
import type { RunningServer } from '../src/start.ts'
import { serverOptions } from './server-options.ts'
import { createSink } from './sink.ts'
import type { Sink } from './sink.ts'

/** A service with its destination. */
export interface TestedServer extends AsyncDisposable {
  readonly sink: Sink
  readonly server: RunningServer
}

export async function startTestedServer(): Promise<TestedServer> {
  const sink = await createSink()
  const server = await startServer(serverOptions(sink.url))
  return {
    sink,
    server,
    [Symbol.asyncDispose]: async () => {
      await server.stop()
      await sink[Symbol.asyncDispose]()
    },
  }
}
