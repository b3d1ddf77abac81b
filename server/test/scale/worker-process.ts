import { startProgram } from '../program.ts'
import type { Program } from '../program.ts'

/** A worker in a process of its own. */
export interface WorkerProcess extends Program {
  readonly httpPort: number
}

/**
 * @param env Environment variables in addition to those of the test.
 * @param nodeOptions Options of Node.js itself, such as those of its profiler.
 */
export async function startWorkerProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  nodeOptions: readonly string[] = [],
): Promise<WorkerProcess> {
  const all = ['--role', 'worker', '--http-port', '0', ...args]
  const started = await startProgram(all, { ready: /\/ready on http:\/\/[^:]+:(\d+)/, env, nodeOptions })
  return { ...started, httpPort: Number(started.match[1]) }
}
