import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'

/** Forwards signals such as Ctrl-C to a child process, whose exit ends this command. @returns A function that stops forwarding. */
export function forwardSignals(target: ChildProcess): () => void {
  const forward = (signal: NodeJS.Signals): void => void target.kill(signal)
  const signals = (['SIGINT', 'SIGTERM'] as const).filter((signal) => signal in constants.signals)
  for (const signal of signals) process.on(signal, forward)
  return () => {
    for (const signal of signals) process.off(signal, forward)
  }
}
