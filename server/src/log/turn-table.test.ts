import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'

import { toMember } from 'spanscore/engine'
import type { AgentRun } from 'spanscore/engine'
import { expect, it } from 'vitest'

import { runOf } from '../../../test/fixtures/code-runs.ts'
import { FIRST_TURN_SCHEMA, INSTRUCTION_SCHEMA, TURN_MIGRATION, TURN_SCHEMA, TurnTable } from './turn-table.ts'

const SCHEMA = TURN_SCHEMA + INSTRUCTION_SCHEMA

function open(maxBytes = 1e9, database = withSchema(SCHEMA)): TurnTable {
  const write = (): void => {
    table.write()
    table.written()
  }
  const table = new TurnTable({
    database,
    nowMs: () => 1000,
    onChanged: write,
    flush: write,
    maxBytes,
    hasRoom: () => true,
  })
  return table
}

function withSchema(schema: string): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  database.exec(schema)
  return database
}

const turn = (key: string, id: string, service: string, change: Partial<AgentRun> = {}) => ({
  key,
  member: toMember(runOf({ id, resource: { 'service.name': service }, ...change })),
})

/** A text that cannot be compressed. */
const long = (): string => randomBytes(3000).toString('base64')

it('a run whose id another service uses stays in its conversation', () => {
  const table = open()
  table.keep(turn('a', 'r', 'shop', { output: 'Fine.' }))
  table.keep(turn('b', 'r', 'evil', { output: 'EVIL' }))
  expect(table.of('a')?.members.map(({ run }) => run.output)).toEqual(['Fine.'])
  expect(table.of('b')?.members.map(({ run }) => run.output)).toEqual(['EVIL'])
})

it('bytes are those of the runs that are kept, also after a restart', () => {
  const database = withSchema(SCHEMA)
  const table = open(1e9, database)
  table.keep(turn('a', 'r', 'shop'))
  const one = table.bytes
  expect(one).toBeGreaterThan(100)
  table.keep(turn('a', 'r', 'shop'))
  expect(table.bytes).toBe(one)
  table.keep(turn('a', 's', 'shop'))
  expect(table.bytes).toBeGreaterThan(1.9 * one)
  expect(open(1e9, database).bytes).toBe(table.bytes)
  table.forget(['a'])
  expect(table.bytes).toBe(0)
})

it('a service that has taken its part leaves room for others', () => {
  const table = open(20_000)
  for (let index = 0; table.hasRoomFor('flood'); index++) table.keep(turn(`${index}`, `${index}`, 'flood'))
  expect(table.bytes).toBeLessThan(40_000)
  expect(table.hasRoomFor('shop')).toBe(true)
})

it('a run that is left out is missing in its conversation', () => {
  const table = open()
  table.keep(turn('a', 'r', 'shop'))
  table.leaveOut('a')
  expect(table.of('a')).toMatchObject({ leftOut: 1, members: [{ run: { id: 'r' } }] })
})

it('a conversation keeps its first and its latest runs up to a number of bytes', () => {
  const table = open()
  for (let index = 0; index < 150; index++) {
    const toolCalls = Array.from({ length: 100 }, (_, call) => ({
      name: `tool ${call}`,
      arguments: long().slice(0, 300),
      step: 0,
      providerExecuted: false,
      status: 'ok' as const,
    }))
    table.keep(turn('a', `${index}`, 'shop', { startTimeMs: index, output: long(), toolCalls }))
  }
  const kept = table.of('a')
  const ids = kept?.members.map(({ run }) => Number(run.id)) ?? []
  expect(ids.slice(0, 6)).toEqual([0, 1, 2, 3, 4, expect.any(Number)])
  expect(ids.at(-1)).toBe(149)
  expect(ids.length + (kept?.leftOut ?? 0)).toBe(150)
  expect(table.bytes).toBeLessThan(2.2 * 1024 * 1024)
})

it('instructions are kept once for a conversation and version, as long as a run has them', () => {
  const database = withSchema(SCHEMA)
  const table = open(1e9, database)
  const [first, second] = [long(), long()]
  const keep = (key: string, id: string, systemInstructions: string) =>
    table.keep(turn(key, id, 'shop', { systemInstructions }))
  const versions = () => database.prepare('SELECT conversation FROM instructions ORDER BY conversation').all()
  keep('a', '1', first)
  const { bytes } = table
  for (const id of ['2', '3', '4']) keep('a', id, first)
  expect(table.bytes).toBeLessThan(bytes + first.length)
  keep('a', '5', second)
  keep('b', '6', first)
  expect(versions().map(({ conversation }) => conversation)).toEqual(['a', 'a', 'b'])
  const told = table.of('a')?.members.map(({ run }) => run.systemInstructions)
  expect(told).toEqual([first, first, first, first, second])
  keep('a', '5', first)
  expect(versions()).toHaveLength(2)
  table.forget(['a'])
  expect(versions().map(({ conversation }) => conversation)).toEqual(['b'])
  expect(open(1e9, database).bytes).toBe(table.bytes)
  table.forgetBefore(2000)
  expect([versions().length, table.bytes]).toEqual([0, 0])
})

it('the rows of an older service are kept', () => {
  const database = withSchema(FIRST_TURN_SCHEMA)
  const { member } = turn('a', 'r', 'shop')
  database
    .prepare(
      'INSERT INTO turns (run_id, conversation, ordinal, start_ms, settled_ms, member) VALUES (?, ?, 1, 0, 0, ?)',
    )
    .run('r', 'a', JSON.stringify(member))
  database.exec(TURN_MIGRATION + INSTRUCTION_SCHEMA)
  const table = open(1e9, database)
  expect(table.of('a')?.members).toEqual([member])
  expect(table.conversations()).toMatchObject([{ key: 'a', service: 'shop' }])
  expect(table.bytes).toBe(Buffer.byteLength(JSON.stringify(member)))
})
