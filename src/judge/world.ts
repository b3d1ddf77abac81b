import { unref } from '../scoring/keep-process-alive.ts'
import { nodeCrypto } from '../spans/node-crypto.ts'
import type { Environment } from './transport/connection.ts'

/** The judge's environment; replaced in tests. */
export interface JudgeWorld {
  readonly environment: Environment
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Resolves after that many milliseconds, or when the signal aborts. It does not keep the process alive. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
  /** Hex digits of that many random bytes. */
  readonly randomHex: (bytes: number) => string
}

/** The environment, clock, timers and randomness of the process. */
export const realWorld: JudgeWorld = {
  // Read lazily, because `.env` files are read after imports.
  get environment() {
    return process.env
  },
  now: () => Date.now(),
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const finish = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', finish)
        resolve()
      }
      const timer = unref(setTimeout(finish, ms))
      signal.addEventListener('abort', finish)
    }),
  randomHex: (bytes) => nodeCrypto().randomBytes(bytes).toString('hex'),
}
