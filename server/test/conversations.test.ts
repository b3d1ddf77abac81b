import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { zstdDecompressSync } from 'node:zlib'

import { afterAll, describe, expect, it } from 'vitest'

import { chatRequests } from '../../test/fixtures/chat.ts'
import type { ChatOptions, ChatTurn } from '../../test/fixtures/chat.ts'
import { startServer } from '../src/start.ts'
import type { RunningServer, ServerOptions } from '../src/start.ts'
import { serverOptions } from './server-options.ts'
import { createSink } from './sink.ts'
import type { Sink } from './sink.ts'
import { post, until } from './traces.ts'

const folder = mkdtempSync(join(tmpdir(), 'spanscore-chats-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const root = join(import.meta.dirname, '../..')

function config(name: string, scorers: string, more = ''): string {
  const path = join(folder, `${name}.config.ts`)
  writeFileSync(
    path,
    `import * as prebuilt from '${root}/src/entries/main.ts'
import { createScriptedJudge } from '${root}/src/entries/testing.ts'
export default { scorers: [${scorers}]${more} }`,
  )
  return path
}

const turns = `prebuilt.createScorer({ id: 'turns', description: 'Turns.', level: 'conversation', range: [0, 10], version: 1 })
  .generateScore(({ conversation }) => conversation.turns.length)
  .generateReason(({ conversation }) => conversation.turns.map(({ user }) => user).join(' '))`
const code = config('code', `prebuilt.createAbandonedScorer(), prebuilt.createToolErrorsScorer(), ${turns}`)

const chat: readonly ChatTurn[] = ['one', 'two', 'three', 'four'].map((each) => ({
  user: `Question ${each}?`,
  answer: `Answer ${each}.`,
}))

async function send(server: RunningServer, requests: readonly unknown[]): Promise<void> {
  for (const request of requests) expect(await post(server.httpPort, request)).toBe(200)
}

const scoresOf = (sink: Sink, id: string) =>
  sink.logs.filter(({ attributes }) => attributes['gen_ai.evaluation.name'] === id)

async function start(sink: Sink, change: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const { traces } = serverOptions(sink.url)
  return startServer(
    serverOptions(sink.url, { configPath: code, idleMs: 1000, traces: { ...traces, settleMs: 100 }, ...change }),
  )
}

const recent = (options: ChatOptions = {}): ChatOptions => ({
  id: 'c1',
  startMs: Date.now() - 10_000,
  everyMs: 1000,
  ...options,
})

interface Ledger {
  readonly ledger: { readonly scorers: Record<string, { readonly scored: number; readonly reasons: unknown }> }
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the counts of a service
const ledgerOf = (server: RunningServer) => (server.counts() as Ledger).ledger.scorers

describe('conversations in the service', () => {
  it('are scored once they are over, and again with the same key after they went on', async () => {
    await using sink = await createSink()
    const server = await start(sink)
    const requests = chatRequests(chat, recent())
    await send(server, requests.slice(0, 3))
    await until(() => scoresOf(sink, 'turns').length === 1, 'the score of a conversation')
    const [first] = scoresOf(sink, 'turns')
    expect(first?.attributes).toMatchObject({
      'gen_ai.evaluation.score.value': 3,
      'gen_ai.evaluation.explanation': 'Question one? Question two? Question three?',
      'gen_ai.conversation.id': 'c1',
      'session.id': 'c1',
      'gen_ai.agent.name': 'clerk',
      'spanscore.level': 'conversation',
      'spanscore.turns': 3,
      'spanscore.revision': 3,
      'spanscore.complete': true,
    })
    expect(first?.spanId).toBeFalsy()
    await send(server, requests.slice(3))
    await until(() => scoresOf(sink, 'turns').length === 2, 'the score of the conversation that went on')
    const [, second] = scoresOf(sink, 'turns')
    expect(second?.attributes).toMatchObject({ 'gen_ai.evaluation.score.value': 4, 'spanscore.revision': 4 })
    const keyOf = (log: typeof second) => log?.attributes['spanscore.score.key']
    expect(keyOf(second)).toBe(keyOf(first))
    expect(second?.attributes['spanscore.score.id']).not.toBe(first?.attributes['spanscore.score.id'])
    // Its late span is below the agent of the last turn.
    const late = sink.spans.filter(({ name }) => name === 'evaluate turns')
    expect(late.map(({ traceId }) => traceId)).toEqual([2, 3].map((turn) => `c0${`${turn}`.padStart(30, '0')}`))
    expect(late[1]?.attributes).toMatchObject({
      'openinference.span.kind': 'EVALUATOR',
      'session.id': 'c1',
      'session.evaluations.0.evaluation.name': 'turns',
      'session.evaluations.0.evaluation.score': 4,
      'session.evaluations.0.evaluation.annotator_kind': 'CODE',
    })
    expect(ledgerOf(server)['turns']).toMatchObject({ scored: 2 })
    expect(scoresOf(sink, 'tool_errors').length).toBe(0)
    await server.stop()
  })

  it('outlive the service, and begin anew after they were forgotten', async () => {
    await using sink = await createSink()
    const dataFolder = join(folder, 'outlive')
    const requests = chatRequests(chat, recent())
    const before = await start(sink, { dataFolder, idleMs: 60_000 })
    await send(before, requests.slice(0, 2))
    await until(() => (before.counts() as { service: { runs: number } }).service.runs === 2, 'two runs')
    await before.stop()
    const after = await start(sink, { dataFolder, idleMs: 200 })
    await until(() => scoresOf(sink, 'turns').length === 1, 'a score after the restart')
    const kept = () => {
      const database = new DatabaseSync(join(dataFolder, 'spans.db'), { readOnly: true })
      const count = database.prepare('SELECT count(*) AS count FROM turns').get()?.['count']
      database.close()
      return count
    }
    await until(() => kept() === 0, 'nothing of it to be kept')
    await send(after, requests.slice(2, 3))
    await until(() => scoresOf(sink, 'turns').length === 2, 'a score of a new conversation')
    const [first, second] = scoresOf(sink, 'turns')
    expect(second?.attributes).toMatchObject({ 'gen_ai.evaluation.score.value': 1, 'spanscore.complete': true })
    expect(second?.attributes['spanscore.score.key']).not.toBe(first?.attributes['spanscore.score.key'])
    await after.stop()
  })

  it('are named once in the log where no scorer is one of conversations', async () => {
    await using sink = await createSink()
    const lines: string[] = []
    const configPath = config('runs', 'prebuilt.createAnswerPresentScorer()')
    const server = await start(sink, { configPath, report: (line) => lines.push(line) })
    await send(server, chatRequests(chat.slice(0, 2), recent()))
    await until(() => scoresOf(sink, 'answer_present').length === 2, 'the scores of the runs')
    expect(lines.filter((line) => line.includes('no scorer scores conversations: abandoned'))).toHaveLength(1)
    await server.stop()
  })

  it('end at once if a span says so, and leave runs without an id out', async () => {
    await using sink = await createSink()
    const lines: string[] = []
    const server = await start(sink, { idleMs: 60_000, report: (line) => lines.push(line) })
    const last = JSON.stringify(chatRequests(chat.slice(0, 1), recent()))
    const marked = last.replace(
      '{"key":"gen_ai.agent.name"',
      '{"key":"spanscore.conversation.end","value":{"boolValue":true}},{"key":"gen_ai.agent.name"',
    )
    await send(server, JSON.parse(marked))
    await send(server, chatRequests(chat.slice(0, 2), recent({ id: undefined, prefix: 'd0' })))
    await until(() => scoresOf(sink, 'turns').length === 1, 'the score of a conversation that is over')
    await until(() => lines.some((line) => line.includes('no id of a conversation')), 'the warning')
    expect(lines.filter((line) => line.includes('no id of a conversation'))).toHaveLength(1)
    expect(ledgerOf(server)['turns']).toMatchObject({ scored: 1 })
    await server.stop()
  })

  it('have the turns of the agents that the entry of a scorer names', async () => {
    await using sink = await createSink()
    const entries = `{ scorer: ${turns}, agent: 'clerk' }, { scorer: ${turns}, id: 'all' }, { scorer: ${turns}, id: 'nobody', agent: 'nobody' }`
    const server = await start(sink, { configPath: config('agents', entries) })
    await send(server, chatRequests(chat.slice(0, 2), recent()))
    await send(server, chatRequests([{ user: 'Title?', answer: 'Chat' }], recent({ agent: 'titles', prefix: 'e0' })))
    await until(() => scoresOf(sink, 'all').length === 1, 'the score of all runs')
    expect(scoresOf(sink, 'all')[0]?.attributes['gen_ai.evaluation.score.value']).toBe(3)
    expect(scoresOf(sink, 'turns')[0]?.attributes['gen_ai.evaluation.score.value']).toBe(2)
    expect(ledgerOf(server)['nobody']).toMatchObject({ scored: 0, reasons: { filtered: 1 } })
    await server.stop()
  })

  it('are kept after redact, and not at all where it throws', async () => {
    await using sink = await createSink()
    const judge = `prebuilt.createUserFrictionScorer({ model: createScriptedJudge({}) })`
    const redact = `, redact: (run) => {
      if (run.userInput.includes('two')) throw new Error('no')
      return { ...run, userInput: 'redacted', input: [], output: undefined }
    }`
    const dataFolder = join(folder, 'redacted')
    const server = await start(sink, { configPath: config('redacted', `${turns}, ${judge}`, redact), dataFolder })
    await send(server, chatRequests(chat.slice(0, 2), recent()))
    await until(() => scoresOf(sink, 'turns').length === 1, 'the score of a conversation')
    expect(scoresOf(sink, 'turns')[0]?.attributes).toMatchObject({
      'gen_ai.evaluation.explanation': 'redacted ',
      'spanscore.complete': false,
    })
    expect(ledgerOf(server)['user_friction']).toMatchObject({ scored: 0, reasons: { incomplete: 1 } })
    const database = new DatabaseSync(join(dataFolder, 'spans.db'), { readOnly: true })
    const rows = database.prepare('SELECT member FROM turns').all()
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column is a BLOB
    const kept = rows.map(({ member }) => zstdDecompressSync(member as Uint8Array).toString()).join('')
    database.close()
    expect(kept).toContain('redacted')
    expect(kept).not.toContain('Question')
    await server.stop()
  })

  it('are chosen by service and id, and only those are kept', async () => {
    await using sink = await createSink()
    const dataFolder = join(folder, 'sampled')
    const entries = `{ scorer: ${turns}, sample: 0.2 }`
    const server = await start(sink, { configPath: config('sampled', entries), dataFolder })
    const chats = Array.from({ length: 40 }, (_, index) =>
      chatRequests(chat.slice(0, 2), recent({ id: `c${index}`, prefix: `f${index.toString(16).padStart(2, '0')}` })),
    )
    await Promise.all(chats.map((requests) => send(server, requests)))
    await until(() => (server.counts() as { service: { runs: number } }).service.runs === 80, 'all runs')
    await until(() => scoresOf(sink, 'turns').length > 0, 'a score')
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const scores = scoresOf(sink, 'turns')
    expect(scores.length).toBeGreaterThan(1)
    expect(scores.length).toBeLessThan(20)
    expect(new Set(scores.map(({ attributes }) => attributes['gen_ai.evaluation.score.value']))).toEqual(new Set([2]))
    expect(scores[0]?.attributes['spanscore.probability']).toBe(0.2)
    await server.stop()
  })

  it('keep the first and the last runs of one with very many', async () => {
    await using sink = await createSink()
    const lines: string[] = []
    const many = Array.from({ length: 230 }, (_, index) => ({ user: `Q${index}`, answer: 'A' }))
    const counted = `prebuilt.createScorer({ id: 'turns', description: 'Turns.', level: 'conversation', range: [0, 1000] }).generateScore(({ conversation }) => conversation.turns.length)`
    const server = await start(sink, {
      configPath: config('many', counted),
      idleMs: 2000,
      report: (line) => lines.push(line),
    })
    await send(server, chatRequests(many, recent({ everyMs: 10 })))
    await until(() => scoresOf(sink, 'turns').length === 1, 'the score of a conversation')
    expect(scoresOf(sink, 'turns')[0]?.attributes).toMatchObject({
      'gen_ai.evaluation.score.value': 200,
      'spanscore.revision': 230,
      'spanscore.complete': false,
    })
    expect(lines.join('\n')).toContain('more than 200 runs')
    await server.stop()
  })
})
