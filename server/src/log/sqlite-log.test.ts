import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

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
const record = (traceId: string, text = 'x') => ({
  traceId,
  signal: 'traces' as const,
  encoding: 'protobuf' as const,
  payload: new TextEncoder().encode(text),
})

function open(folder: string) {
  const log = new SqliteLog(openDataFolder(folder), () => 1000)
  const read: LogRecord[] = []
  return { log, read, start: () => log.read((records) => void read.push(...records)) }
}

describe('a log in a folder', () => {
  it('gives what was appended to the reader, and again after a restart, until it is finished', async () => {
    const folder = newFolder()
    const first = open(folder)
    first.start()
    // Long texts are compressed on disk.
    await first.log.append({ records: [record('a', 'short'), record('b', 'long '.repeat(1000))] })
    expect(first.read.map(({ offset, traceId }) => [offset, traceId])).toEqual([
      [1, 'a'],
      [2, 'b'],
    ])
    first.log.finish([1])
    first.log.retire(2, ['span-1'])
    first.log.markEmitted([{ traceId: 'b', spanId: 'agent', spanCount: 3 }])
    first.log.close()

    const second = open(folder)
    second.start()
    expect(second.read.map(({ offset, retired }) => [offset, [...(retired ?? [])]])).toEqual([[2, ['span-1']]])
    expect(new TextDecoder().decode(second.read[0]?.payload)).toBe('long '.repeat(1000))
    expect(second.log.emittedSpanCount('b', 'agent')).toBe(3)
    expect(second.log.readTrace('b')).toHaveLength(1)
    second.log.finish([2])
    second.log.close()
    const third = open(folder)
    third.start()
    expect(third.read).toEqual([])
    expect(third.log.heldBytes).toBe(0)
    third.log.close()
  })

  it('never gives an offset twice, so that what was finished is not taken for something new', async () => {
    const folder = newFolder()
    const first = open(folder)
    await first.log.append({ records: [record('a')] })
    first.log.finish([1])
    first.log.close()
    const second = open(folder)
    second.start()
    await second.log.append({ records: [record('a')] })
    expect(second.read.map(({ offset }) => offset)).toEqual([2])
    second.log.close()
  })

  it('keeps requests that are to be passed on until they are acknowledged', async () => {
    const folder = newFolder()
    const { log } = open(folder)
    const body = new TextEncoder().encode('{}')
    await log.append({
      records: [],
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

  it('is refused where a newer version of the service wrote it', () => {
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
