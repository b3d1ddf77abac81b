import { startProgram } from '../program.ts'
import type { Program } from '../program.ts'

/** A service in a process of its own. */
export interface ServerProcess extends Program {
  readonly httpPort: number
  readonly grpcPort: number
}

/** @param nodeOptions Options of Node.js itself, such as those of its profiler. */
export async function startProcess(
  args: readonly string[],
  ports = { http: 0, grpc: 0 },
  nodeOptions: readonly string[] = [],
): Promise<ServerProcess> {
  const all = ['--http-port', String(ports.http), '--grpc-port', String(ports.grpc), ...args]
  const started = await startProgram(all, { ready: /:(\d+) and OTLP\/gRPC on port (\d+)/, nodeOptions })
  return { ...started, httpPort: Number(started.match[1]), grpcPort: Number(started.match[2]) }
}
