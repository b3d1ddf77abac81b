import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname

/** A worker in a process of its own, as users start it. */
export interface WorkerProcess {
  readonly httpPort: number
  readonly pid: number
  readonly lines: readonly string[]
  /** Ends it without a warning. */
  kill(): Promise<void>
  /** Asks it to end. */
  stop(): Promise<number | null>
}

export async function startWorkerProcess(args: readonly string[]): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [MAIN, '--role', 'worker', '--http-port', '0', ...args], {
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  const lines: string[] = []
  const httpPort = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line)
      if (process.env['VERBOSE'] !== undefined) console.error(child.pid, line)
      const match = /\/ready on http:\/\/[^:]+:(\d+)/.exec(line)
      if (match !== null) resolve(Number(match[1]))
    })
    child.once('exit', (code) => reject(new Error(`The worker ended with ${code}: ${lines.join('\n')}`)))
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return {
    httpPort,
    pid: child.pid ?? 0,
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
