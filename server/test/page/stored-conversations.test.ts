import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'

import { buildRuns, conversationKey, readOtlpJson, withoutPause } from 'spanscore/engine'
import type { AgentRun } from 'spanscore/engine'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { chatRequests } from '../../../test/fixtures/chat.ts'
import type { ChatOptions, ChatTurn } from '../../../test/fixtures/chat.ts'
import { readConversation } from '../../src/page/conversation-page.ts'
import type { Thread } from '../../src/page/conversation-page.ts'
import { listConversations } from '../../src/page/store/conversation-list.ts'
import type { ConversationListFilter } from '../../src/page/store/conversation-list.ts'
import { saveConversationScore, saveTurn } from '../../src/page/store/conversations.ts'
import { compareScorers, compareScores } from '../../src/page/store/compare.ts'
import { deleteOldest } from '../../src/page/store/forgetting.ts'
import { countHours } from '../../src/page/store/hours.ts'
import { readNow } from '../../src/page/store/now.ts'
import { openPageDatabase } from '../../src/page/store/page-database.ts'
import { searchText, summarise } from '../../src/page/store/run-summary.ts'
import { saveRun } from '../../src/page/store/run-writer.ts'
import { parcel, thanks } from './made-chats.ts'
import { madeScore } from './made-score.ts'

const runsOf = (turns: readonly ChatTurn[], options: ChatOptions) =>
  chatRequests(turns, options).flatMap((request) => buildRuns(readOtlpJson(request)?.spans ?? []))

describe('conversations in the database of the page', () => {
  let folder: string
  let database: DatabaseSync
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'spanscore-store-'))
    database = openPageDatabase(folder)
  })
  afterEach(() => {
    database.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const count = (table: string) => database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']
  const store = (run: AgentRun, settledMs = run.endTimeMs) => {
    const seq = saveRun(database, summarise(run), { text: searchText(run), contentIds: [], settledMs, revision: 1 })
    if (seq !== undefined) saveTurn(database, seq, run, settledMs)
  }
  const score = (runs: readonly AgentRun[], value: number, scorer = 'judge') => {
    const evaluation = { ...madeScore(runs.at(-1)!.id, { value, scorer }), revision: runs.length }
    return saveConversationScore(database, conversationKey(runs[0]!)!, { evaluation, turns: runs.map(({ id }) => id) })
  }
  const order = (filter: ConversationListFilter) =>
    listConversations(database, filter).conversations.map(({ id }) => id)
  const shown = (id: string) => {
    const [run] = runsOf([{ user: 'x' }], { id })
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the page shows
    return readConversation(database, conversationKey(run!)!, '') as Thread
  }

  it('have the latest score, also where they begin anew', () => {
    const runs = runsOf([...parcel, ...thanks], { id: 'a' })
    for (const run of runs) store(run)
    expect(score(runs.slice(0, 2), 1)).toBe(true)
    expect(score(runs.slice(0, 3), 0)).toBe(true)
    expect(score(runs.slice(0, 2), 1)).toBe(false)
    expect(score(runs.slice(0, 3), 1)).toBe(false)
    expect(shown('a').scores).toMatchObject([{ evaluation: { score: { value: 0 } }, turns: { length: 3 } }])
    // Fewer runs, and others.
    expect(score(runs.slice(4), 0.5)).toBe(true)
    expect(shown('a').scores).toMatchObject([{ evaluation: { score: { value: 0.5 } }, turns: [runs[4]?.id] }])
    const skipped = { status: 'skipped', reason: 'not-applicable', message: 'One message.' } as const
    const evaluation = { ...madeScore(runs[3]!.id, { value: 1 }), score: skipped }
    expect(saveConversationScore(database, conversationKey(runs[0]!)!, { evaluation, turns: [runs[3]!.id] })).toBe(
      false,
    )
    expect(score(runsOf(thanks, { id: 'unknown' }), 1)).toBe(false)
  })

  it('show in *Now* a scorer that gave no score of the last five', () => {
    const chats = Array.from({ length: 6 }, (_, index) =>
      runsOf(thanks, { id: `chat-${index}`, prefix: `b${index}`, startMs: 1_764_000_000_000 + index }),
    )
    for (const [index, runs] of chats.entries()) {
      for (const run of runs) store(run)
      if (index === 0) score(runs, 1)
      else {
        const evaluation = madeScore(runs.at(-1)!.id, { value: undefined })
        saveConversationScore(database, conversationKey(runs[0]!)!, { evaluation, turns: [runs[0]!.id] })
      }
    }
    withoutPause(countHours(database))
    const { unknown } = withoutPause(readNow(database, undefined, Date.now()))
    expect(unknown).toContainEqual(
      expect.objectContaining({ kind: 'silent-scorer', scorer: 'judge', gaveBefore: true }),
    )
  })

  it('are ordered by how many scorers they fail, and by their lowest score', () => {
    const scores = { unscored: [], fine: [1, 0.9], one: [0, 1], two: [0.4, 0.4], higher: [0.45, 0.4] }
    for (const [index, [id, values]] of Object.entries(scores).entries()) {
      const runs = runsOf(thanks, { id, prefix: `a${index}` })
      for (const run of runs) store(run)
      for (const [place, value] of values.entries()) score(runs, value, `judge_${place}`)
    }
    expect(order({})).toEqual(['higher', 'two', 'one', 'fine', 'unscored'])
    expect(order({ scorer: 'judge_0' })).toEqual(['one', 'two', 'higher', 'fine'])
    const pages: string[] = []
    for (let after: string | undefined = ''; after !== undefined;) {
      const page = listConversations(database, { limit: 1, ...(after !== '' && { after }) })
      pages.push(...page.conversations.map(({ id }) => id))
      after = page.next
    }
    expect(pages).toEqual(order({}))
  })

  it('show the first and the last runs if there are very many', () => {
    const many = Array.from({ length: 230 }, (_, index) => ({ user: `Question ${index}`, answer: 'Yes.' }))
    for (const run of runsOf(many, { id: 'everybody' })) store(run)
    const { turns, complete, missing, revision } = shown('everybody')
    expect(turns).toHaveLength(200)
    expect(turns.slice(4, 6).map(({ user }) => user)).toEqual(['Question 4', 'Question 35'])
    expect({ complete, missing, revision }).toEqual({
      complete: false,
      missing: [{ what: 'turns', why: 'limit' }],
      revision: 230,
    })
    expect(listConversations(database, {}).conversations).toMatchObject([{ turns: 230, question: 'Question 0' }])
  })

  it('are compared without what users say of runs, and with no sure statement about few', () => {
    for (const id of ['a', 'b']) {
      const runs = runsOf(parcel, { id, prefix: `${id}0` })
      for (const run of runs) store(run)
      score(runs, id === 'a' ? 1 : 0)
    }
    const filter = { scorer: 'judge' }
    expect(compareScores(database, filter, filter).opinions).toEqual([])
    expect(withoutPause(compareScorers(database, {}, {}))).toMatchObject([{ scorer: 'judge', state: 'few' }])
  })

  it('bound what a stranger sends', () => {
    const tools = Array.from({ length: 90 }, (_, index) => ({ name: `tool_${index}`, fails: true }))
    const turn = { user: `\u202e<b>${'long '.repeat(50_000)}`, answer: 'x'.repeat(300_000), tools }
    for (const run of runsOf([turn], { id: 'i'.repeat(100_000) })) store(run)
    const [run] = runsOf([{ user: 'x' }], { id: 'i'.repeat(100_000) })
    const thread = readConversation(database, conversationKey(run!)!, '')
    expect(JSON.stringify(thread).length).toBeLessThan(60_000)
    expect(thread).toMatchObject({ turns: [{ runs: [{ calls: { length: 20 }, moreCalls: 70 }] }] })
    expect(JSON.stringify(listConversations(database, {})).length).toBeLessThan(3000)
    expect(JSON.stringify(thread)).toContain('[U+202E]')
  })

  it('move with a run that turns out to have another id', () => {
    const [run] = runsOf(thanks, { id: 'first' })
    store(run!)
    const later: AgentRun = { ...JSON.parse(JSON.stringify(run)), conversationId: 'second' }
    const seq = saveRun(database, summarise(later), { text: '', contentIds: [], settledMs: 2, revision: 2 })
    saveTurn(database, seq!, later, 2)
    expect(listConversations(database, {}).conversations.map(({ id }) => id)).toEqual(['second'])
  })

  it('are deleted with their runs, and their scores when these are old', () => {
    const [a, b] = [runsOf(parcel, { id: 'a', prefix: 'a0' }), runsOf(thanks, { id: 'b', prefix: 'b0' })]
    for (const run of a) store(run, 1000)
    for (const run of b) store(run, 1000)
    for (const runs of [a, b]) score(runs, 0)
    for (const run of runsOf([{ user: 'And now?', answer: 'Later.' }], { id: 'b', prefix: 'b1' })) store(run, 9000)
    deleteOldest(database, { maxAgeMs: 5000, maxBytes: 1e12 }, 10_000)
    expect(listConversations(database, {}).conversations).toMatchObject([{ id: 'b', turns: 1, scores: [] }])
    deleteOldest(database, { maxAgeMs: 500, maxBytes: 1e12 }, 10_000)
    expect(['runs', 'turns', 'conversations', 'conversation_scores'].map(count)).toEqual([0, 0, 0, 0])
  })
})
