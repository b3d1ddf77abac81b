import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
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

  it('refuses records while the disk is full, says so, and continues when there is room', async () => {
    const folder = openDataFolder(newFolder(), () => [])
    const log = new SqliteLog(folder, () => 1000)
    const read: number[] = []
    log.read((records) => read.push(...records.map(({ offset }) => offset)))
    await log.append({ record: record('first') })
    folder.database.exec('PRAGMA max_page_count = 1')
    const large = { ...record(), body: randomBytes(1_000_000) }
    await expect(log.append({ record: large })).rejects.toThrow(/full/)
    expect(log.failure).toMatch(/^The log could not be written: .*full/)
    expect(log.heldBytes).toBe(5)
    folder.database.exec('PRAGMA max_page_count = 1000000')
    await log.append({ record: large })
    expect(log.failure).toBeUndefined()
    expect(log.heldBytes).toBeGreaterThan(1_000_000)
    expect(read).toHaveLength(2)
    log.close()
  })

  it('accepts no requests when its disk is almost full, but frees the space of those that were delivered', async () => {
    const folder = openDataFolder(newFolder(), () => [])
    let freeBytes = 200_000_000
    const log = new SqliteLog({ ...folder, hasRoomFor: (bytes) => bytes <= freeBytes }, () => 1000)
    await log.append({ record: record() })
    freeBytes = 60_000_000
    await expect(log.append({ record: record() })).rejects.toThrow('its disk is almost full')
    expect(log.failure).toBe('The log could not be written: its disk is almost full.')
    log.update({ finished: [1], states: new Map() })
    await expect(log.append({ record: record() })).rejects.toThrow('its disk is almost full')
    await expect.poll(() => log.heldBytes).toBe(0)
    freeBytes = 200_000_000
    expect(log.failure).toBeUndefined()
    await log.append({ record: record() })
    await expect(log.append({ record: { ...record(), body: new Uint8Array(70_000_000) } })).rejects.toThrow('full')
    log.close()
  })

  it.each([
    [
      'a file in its place',
      (folder: string) => writeFileSync(folder, ''),
      /expected a data folder that this user can write/,
    ],
    [
      'nothing that can be created',
      () => undefined,
      /^\/proc\/none\/folder: expected a data folder that this user can write/,
      '/proc/none/folder',
    ],
    [
      'a folder with other files that others can read',
      (folder: string) => {
        mkdirSync(folder, { mode: 0o755 })
        writeFileSync(join(folder, 'notes.txt'), '')
      },
      /expected an empty data folder, or one of the service, got one with other files/,
    ],
    [
      'a file that is no database',
      (folder: string) => {
        mkdirSync(folder)
        writeFileSync(join(folder, 'spans.db'), 'text '.repeat(1000))
      },
      /spans\.db: expected a database of the service, got a file that is none/,
    ],
    [
      'a database that cannot be opened',
      (folder: string) => mkdirSync(join(folder, 'spans.db'), { recursive: true }),
      /expected a data folder that this user can write/,
    ],
  ])('is refused if there is %s, and the error says what to do', (_, prepare, message, folder = newFolder()) => {
    prepare(folder)
    expect(() => open(folder)).toThrow(message)
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
      forward: { signal: 'logs', contentType: 'application/json', contentEncoding: 'gzip', body, passed: 'a,b' },
    })
    expect(log.waitingToForward).toBe(1)
    log.close()
    const again = open(folder)
    expect(again.log.nextToForward(10)).toMatchObject([
      { id: 1, signal: 'logs', contentEncoding: 'gzip', passed: 'a,b' },
    ])
    again.log.forwarded([1])
    again.log.close()
  })

  it('may be a new file system, or be inside a folder that does not exist, or have other files that nobody else can read', () => {
    const [above, volume, closed] = [newFolder(), newFolder(), newFolder()]
    mkdirSync(join(volume, 'lost+found'), { recursive: true })
    mkdirSync(closed, { mode: 0o700 })
    writeFileSync(join(closed, 'notes.txt'), '')
    for (const folder of [join(above, 'deep', 'folder'), volume, closed]) {
      open(folder).log.close()
      expect(statSync(folder).mode & 0o777).toBe(0o700)
      open(folder).log.close()
    }
  })

  it('belongs to its owner and to one process', () => {
    const folder = newFolder()
    const { log } = open(folder)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(() => open(folder)).toThrow(/expected a data folder that no other process uses/)
    log.close()
    open(folder).log.close()
  })

  it('keeps requests to forward of the first schema for as long as new ones', () => {
    const folder = newFolder()
    mkdirSync(folder)
    copyFileSync(new URL('../../test/fixtures/schema-1.db', import.meta.url), join(folder, 'spans.db'))
    const { log } = open(folder)
    expect(log.waitingToForward).toBe(1)
    // The first schema does not say when they were received.
    expect(log.dropForwardedBefore(Date.now() - 3_600_000)).toBe(0)
    expect(log.dropForwardedBefore(Date.now() + 3_600_000)).toBe(1)
    log.close()
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
