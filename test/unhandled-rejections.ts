import { afterEach, beforeEach } from 'vitest'

/** The reasons of the rejections in the current test that nothing handles: each of them would end an application's process. */
export function noteUnhandledRejections(): readonly unknown[] {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  beforeEach(() => {
    unhandled.length = 0
    process.on('unhandledRejection', note)
  })
  afterEach(() => {
    process.off('unhandledRejection', note)
  })
  return unhandled
}
