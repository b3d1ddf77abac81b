import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { zstdDecompressSync } from 'node:zlib'

import { afterAll, describe, expect, it } from 'vitest'

import { openDataFolder } from './data-folder.ts'
import { SCHEMA_VERSION } from './migrations.ts'
import type { LogRecord } from './span-log.ts'
import { SqliteLog } from './sqlite-log.ts'

const root = mkdtempSync(join(tmpdir(), 'spanscore-log-'))
afterAll(() => {
  rmSync(root, { recursive: true, force: true })
})

let count = 0
const newFolder = () => join(root, `folder-${count++}`)
const record = (text = 'x') => ({
  signal: 'traces' as const,
  encoding: 'protobuf' as const,
  contentEncoding: '',
  body: new TextEncoder().encode(text),
})
const textOf = ({ body, contentEncoding }: LogRecord) =>
  new TextDecoder().decode(contentEncoding === 'zstd' ? zstdDecompressSync(body) : body)

function open(folder: string) {
  const log = new SqliteLog(
    openDataFolder(folder, () => []),
    () => 1000,
  )
  const read: LogRecord[] = []
  return { log, read, start: () => log.read((records) => void read.push(...records)) }
}

describe('a log in a folder', () => {
  it('passes appended records to the reader, and again after a restart, until they are finished', async () => {
    const folder = newFolder()
    const first = open(folder)
    first.start()
    // Long texts are compressed on disk.
    await first.log.append({ record: record('short') })
    await first.log.append({ record: record('long '.repeat(1000)) })
    expect(first.read.map(({ offset }) => offset)).toEqual([1, 2])
    first.log.update({ finished: [1], states: new Map([[2, Uint8Array.of(0, 2)]]) })
    first.log.close()

    const second = open(folder)
    second.start()
    expect(second.read.map(({ offset, states }) => [offset, [...(states ?? [])]])).toEqual([[2, [0, 2]]])
    expect(second.read.map(textOf)).toEqual(['long '.repeat(1000)])
    expect(second.log.readRecord(1)).toBeUndefined()
    expect(textOf(second.log.readRecord(2)!)).toBe('long '.repeat(1000))
    expect(second.log.heldBytes).toBeGreaterThan(0)
    second.log.update({ finished: [2], states: new Map() })
    second.log.close()
    const third = open(folder)
    third.start()
    expect(third.read).toEqual([])
    expect(third.log.heldBytes).toBe(0)
    third.log.close()
  })

  it('never assigns an offset twice, so that a finished record is not mistaken for a new one', async () => {
    const folder = newFolder()
    const first = open(folder)
    await first.log.append({ record: record() })
    first.log.update({ finished: [1], states: new Map() })
    first.log.close()
    const second = open(folder)
    second.start()
    await second.log.append({ record: record() })
    expect(second.read.map(({ offset }) => offset)).toEqual([2])
    second.log.close()
  })

  it('keeps requests to forward until they are acknowledged', async () => {
    const folder = newFolder()
    const { log } = open(folder)
    const body = new TextEncoder().encode('{}')
    await log.append({
      forward: { signal: 'logs', contentType: 'application/json', contentEncoding: 'gzip', body },
    })
    expect(log.waitingToForward).toBe(1)
    log.close()
    const again = open(folder)
    expect(again.log.nextToForward(10)).toMatchObject([{ id: 1, signal: 'logs', contentEncoding: 'gzip' }])
    again.log.forwarded([1])
    again.log.close()
  })

  it('belongs to its owner and to one process', () => {
    const folder = newFolder()
    const { log } = open(folder)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(() => open(folder)).toThrow(/expected a data folder that no other process uses/)
    log.close()
    open(folder).log.close()
  })

  it('is refused if a newer version of the service wrote it', () => {
    const folder = newFolder()
    open(folder).log.close()
    const database = new DatabaseSync(join(folder, 'spans.db'))
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`)
    database.close()
    expect(() => open(folder)).toThrow(/a newer version of the service wrote it/i)
    // The folder is not left locked.
    const again = new DatabaseSync(join(folder, 'spans.db'))
    again.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
    again.close()
    open(folder).log.close()
  })
})
