import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { OutputStream } from './output.ts'
import { createProgress } from './progress.ts'

function open(isTTY: boolean): OutputStream & { read(): unknown } {
  return Object.assign(new PassThrough(), { isTTY })
}

describe('the progress bar', () => {
  it('draws ten times a second at most, and clears its line', () => {
    const stream = open(true)
    let nowMs = 0
    const progress = createProgress({ stream, totalBytes: 2 * 1024 * 1024, now: () => nowMs })
    progress.update(1)
    expect(stream.read()).toBeNull()
    nowMs = 100
    progress.update(1024 * 1024)
    progress.update(1024 * 1024 + 1)
    expect(String(stream.read())).toBe(`\rreading ${'█'.repeat(15)}${'░'.repeat(15)}  50 % of 2 MiB\u001B[K`)
    progress.clear()
    expect(String(stream.read())).toBe('\r\u001B[K')
  })

  it('writes nothing if the stream is not a terminal', () => {
    const stream = open(false)
    const progress = createProgress({ stream, totalBytes: undefined, now: () => 0 })
    progress.update(1)
    progress.clear()
    expect(stream.read()).toBeNull()
  })
})
