import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'

export const MAIN = new URL('../dist/main.js', import.meta.url).pathname

/** The program in a process of its own, as users start it. */
export interface Program {
  readonly child: ChildProcess
  readonly pid: number
  /** The text that it has written to standard error. */
  readonly lines: readonly string[]
  /** Kills it without a warning. */
  kill(): Promise<void>
  /** Asks it to end. */
  stop(): Promise<number | null>
}

/** How a program is started. */
export interface ProgramOptions {
  /** Matches the line that it prints when it is ready. */
  readonly ready: RegExp
  /** Options of Node.js itself, such as those of its profiler. */
  readonly nodeOptions?: readonly string[]
  /** Environment variables in addition to those of the test. */
  readonly env?: Readonly<Record<string, string>>
}

/** @returns The program and the match of its line, when it is ready */
export async function startProgram(
  args: readonly string[],
  { ready, nodeOptions = [], env = {} }: ProgramOptions,
): Promise<Program & { readonly match: RegExpExecArray }> {
  const child = spawn(process.execPath, [...nodeOptions, MAIN, ...args], {
    stdio: ['ignore', 'inherit', 'pipe'],
    env: { ...process.env, ...env },
  })
  const lines: string[] = []
  const match = await new Promise<RegExpExecArray>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line)
      if (process.env['VERBOSE'] !== undefined) console.error(child.pid, line)
      const found = ready.exec(line)
      if (found !== null) resolve(found)
    })
    child.once('exit', (code) => reject(new Error(`The program ended with ${code}: ${lines.join('\n')}`)))
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return {
    child,
    pid: child.pid ?? 0,
    lines,
    match,
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
