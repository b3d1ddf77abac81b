import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'

import { conversationKey, isSaid, joinMembers, traitsOf } from 'spanscore/engine'
import type { AgentRun, Conversation, StoredRun, StoredScore } from 'spanscore/engine'

import { listen } from '../listen.ts'
import { createReadApi } from './api.ts'
import { readAssets } from './assets.ts'
import { OverviewReader } from './overview.ts'
import { createPageServer } from './page-server.ts'
import type { ApiAnswer, ApiRequest } from './page-server.ts'
import { toEvaluation } from './stored-evaluation.ts'
import { NO_CONTENT, readContentOf, saveContent } from './store/content.ts'
import { HourCounter } from './store/hours.ts'
import { findConversation, saveConversationScore, saveTurn, turnsOf } from './store/conversations.ts'
import { openTemporaryDatabase } from './store/page-database.ts'
import { searchText, summarise } from './store/run-summary.ts'
import { boundedRemark, saveSaid } from './store/remarks.ts'
import { saveRun, saveScore } from './store/run-writer.ts'
import { TraitStore } from './store/traits.ts'
import { Trials } from './trials.ts'

/** What is shown. */
export interface ViewOptions {
  /** The runs of some files, by start time. */
  readonly runs: AsyncIterable<StoredRun>
  /** The names of the files. */
  readonly files: readonly string[]
}

/** Runs of files, with what the page says of them. */
export interface OpenView {
  /** How many runs there are; nested ones are part of theirs. */
  readonly runs: number
  /** Answers a request of the page. */
  readonly answer: (request: ApiRequest) => Promise<ApiAnswer> | ApiAnswer
  close(): void
}

/** A page of files. */
export interface RunningView {
  /** The address, with its token. */
  readonly url: string
  /** How many runs it shows; nested ones are part of theirs. */
  readonly runs: number
  stop(): Promise<void>
}

const HOST = '127.0.0.1'

/** Maximum bytes that are read when somebody looks at a run: those of its traces. */
const MAX_READ_BYTES = 256 * 1024 * 1024

/** Reads the runs of files into a temporary database. Nothing is kept after the process. */
export async function openView({ runs, files }: ViewOptions): Promise<OpenView> {
  const database = openTemporaryDatabase()
  const loader = new Loader(database)
  try {
    database.exec('BEGIN')
    for await (const stored of runs) loader.add(stored)
    loader.end()
    database.exec('COMMIT')
  } catch (error) {
    database.close()
    throw error
  }
  const answer = createReadApi({
    database,
    hours: new HourCounter(database),
    runs: {
      changes: 0,
      openCount: 0,
      openRuns: () => [],
      contentOf: (runId) => readContentOf(database, runId, MAX_READ_BYTES) ?? NO_CONTENT,
    },
    overview: new OverviewReader(database, Date.now),
    trials: new Trials(undefined, () => undefined),
    about: () => ({ files, left: 0, otlpUrl: '' }),
    nowMs: Date.now,
    isStuck: () => false,
  })
  return { runs: loader.count, answer, close: () => database.close() }
}

/** Shows the runs of files on the page, without a service. */
export async function startView(options: ViewOptions): Promise<RunningView> {
  const assets = readAssets()
  const view = await openView(options)
  const token = randomBytes(24).toString('base64url')
  const server = createPageServer({ host: HOST, allowedHosts: [] }, () => [token], assets, view.answer)
  const port = await listen(server, HOST, 0, 'the page')
  return {
    url: `http://${HOST}:${port}/#token=${token}`,
    runs: view.runs,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
      view.close()
    },
  }
}

/** Stores runs as the page reads them. */
class Loader {
  readonly #database: DatabaseSync
  readonly #traits: TraitStore
  /** The rows of the content of each trace. */
  readonly #contentIds = new Map<string, readonly number[]>()
  /** The latest scores of each conversation, by its key and the scorer. */
  readonly #ofConversations = new Map<string, Map<string, LastScore>>()
  #latestMs = 0
  count = 0

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#traits = new TraitStore(database)
  }

  add({ run, scoresOf, conversationScoresOf, traces }: StoredRun): void {
    this.count += 1
    const contentIds = traces().flatMap((trace) => this.#save(trace))
    // Runs come by their start, as if each arrived when it had ended, and none before another that is above it in the list.
    const settledMs = (this.#latestMs = Math.max(this.#latestMs, run.endTimeMs))
    const save = (one: AgentRun): void => {
      const row = { text: searchText(one), contentIds, settledMs, revision: 1 }
      const seq = saveRun(this.#database, summarise(one), row)
      if (seq !== undefined)
        this.#traits.save(seq, traitsOf(one, { turn: saveTurn(this.#database, seq, one, settledMs) }))
      for (const score of scoresOf(one)) {
        // What users and other tools say is read from the content.
        if (score.isForeign === true) continue
        const evaluation = toEvaluation(one, score)
        if (evaluation !== undefined)
          saveScore(this.#database, one.id, score.scorerId, evaluation, JSON.stringify(evaluation))
      }
      for (const child of one.children) save(child)
    }
    save(run)
    const key = conversationKey(run)
    if (key === undefined) return
    for (const score of conversationScoresOf(run)) {
      const scores = this.#ofConversations.get(key) ?? new Map<string, LastScore>()
      this.#ofConversations.set(key, scores)
      scores.set(score.scorerId, { run, score })
    }
  }

  /** All runs are there. */
  end(): void {
    for (const [key, scores] of this.#ofConversations) {
      const { turns: stored } = turnsOf(this.#database, findConversation(this.#database, key)?.seq ?? 0)
      const { turns } = joinMembers(
        stored.map(({ member }) => member),
        { endedBy: 'file' },
      )
      for (const { run, score } of scores.values()) {
        const evaluation = toEvaluation(run, score)
        if (evaluation === undefined) continue
        saveConversationScore(this.#database, key, { evaluation, turns: turnsUntil(turns, run, score.turns) })
      }
    }
  }

  #save({ spans, logs }: ReturnType<StoredRun['traces']>[number]): readonly number[] {
    const traceId = spans[0]?.traceId ?? ''
    const known = this.#contentIds.get(traceId)
    if (known !== undefined) return known
    const ids = saveContent(this.#database, traceId, { spans, logs }, 0)
    for (const log of logs) if (isSaid(log)) saveSaid(this.#database, boundedRemark(log), log.timeMs)
    this.#contentIds.set(traceId, ids)
    return ids
  }
}

/** A score of a conversation, and the run that was its last one. */
interface LastScore {
  readonly run: AgentRun
  readonly score: StoredScore
}

/**
 * The first runs of the turns up to the last run of a scored conversation; none if these are not as many as were scored: the files may lack
 * runs, or the scorer may not have been asked about all agents.
 */
function turnsUntil(turns: Conversation['turns'], last: AgentRun, count: number | undefined): readonly string[] {
  const end = turns.findIndex(({ runs }) => runs.some(({ id }) => id === last.id)) + 1
  return end > 0 && end === count ? turns.slice(0, end).flatMap(({ runs }) => runs[0]?.id ?? []) : []
}
