import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'

/** A service in a process of its own, as users start it. */
export interface ServerProcess {
  readonly child: ChildProcess
  readonly httpPort: number
  readonly grpcPort: number
  readonly lines: readonly string[]
  /** Ends it without a warning. */
  kill(): Promise<void>
  /** Asks it to end. */
  stop(): Promise<number | null>
}

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname

/** @param nodeOptions Options of Node.js itself, such as those of its profiler. */
export async function startProcess(
  args: readonly string[],
  ports = { http: 0, grpc: 0 },
  nodeOptions: readonly string[] = [],
): Promise<ServerProcess> {
  const child = spawn(
    process.execPath,
    [...nodeOptions, MAIN, '--http-port', String(ports.http), '--grpc-port', String(ports.grpc), ...args],
    { stdio: ['ignore', 'inherit', 'pipe'] },
  )
  const lines: string[] = []
  const found = await new Promise<{ http: number; grpc: number }>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line)
      const match = /:(\d+) and OTLP\/gRPC on port (\d+)/.exec(line)
      if (match !== null) resolve({ http: Number(match[1]), grpc: Number(match[2]) })
    })
    child.once('exit', (code) => reject(new Error(`The service ended with ${code}: ${lines.join('\n')}`)))
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return {
    child,
    httpPort: found.http,
    grpcPort: found.grpc,
    lines,
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
    stop: async () => {
      child.kill('SIGTERM')
      return await ended
    },
  }
}
