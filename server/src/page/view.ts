import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'

import { conversationKey, joinMembers } from 'spanscore/engine'
import type { AgentRun, Conversation, StoredCallScore, StoredRun, StoredScore } from 'spanscore/engine'

import { listen } from '../listen.ts'
import { createReadApi } from './api.ts'
import { readAssets } from './assets.ts'
import { OverviewReader } from './overview.ts'
import { createPageServer } from './page-server.ts'
import type { ShownEvaluation } from './shown-evaluation.ts'
import { NO_CONTENT, readContentOf, saveContent } from './store/content.ts'
import { findConversation, saveConversationScore, saveTurn, turnsOf } from './store/conversations.ts'
import { openTemporaryDatabase } from './store/page-database.ts'
import { searchText, summarise } from './store/run-summary.ts'
import { saveRun, saveScore } from './store/run-writer.ts'
import { Trials } from './trials.ts'

/** What is shown. */
export interface ViewOptions {
  /** The runs of some files, by start time. */
  readonly runs: AsyncIterable<StoredRun>
  /** The names of the files. */
  readonly files: readonly string[]
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

/** Shows the runs of files on the page, without a service. Nothing is kept after the process. */
export async function startView({ runs, files }: ViewOptions): Promise<RunningView> {
  const assets = readAssets()
  const database = openTemporaryDatabase()
  const loader = new Loader(database)
  database.exec('BEGIN')
  for await (const stored of runs) loader.add(stored)
  loader.end()
  database.exec('COMMIT')
  const token = randomBytes(24).toString('base64url')
  const api = createReadApi({
    database,
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
  const server = createPageServer({ host: HOST, allowedHosts: [] }, () => [token], assets, api)
  const port = await listen(server, HOST, 0, 'the page')
  return {
    url: `http://${HOST}:${port}/#token=${token}`,
    runs: loader.count,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
      database.close()
    },
  }
}

/** Stores runs as the page reads them. */
class Loader {
  readonly #database: DatabaseSync
  /** The rows of the content of each trace. */
  readonly #contentIds = new Map<string, readonly number[]>()
  /** The latest scores of each conversation, by its key and the scorer. */
  readonly #ofConversations = new Map<string, Map<string, LastScore>>()
  count = 0

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  add({ run, scoresOf, conversationScoresOf, traces }: StoredRun): void {
    this.count += 1
    const contentIds = traces().flatMap((trace) => this.#save(trace))
    // The list is ordered by it, and runs come by their start.
    const settledMs = run.startTimeMs
    const save = (one: AgentRun): void => {
      const row = { text: searchText(one), contentIds, settledMs, revision: 1 }
      const seq = saveRun(this.#database, summarise(one), row)
      if (seq !== undefined) saveTurn(this.#database, seq, one, settledMs)
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

/** A score of a file as a result; `undefined` if it is neither a number nor a reason. */
function toEvaluation(run: AgentRun, stored: StoredScore): ShownEvaluation | undefined {
  const { scorerId, about, level } = stored
  const calls = stored.calls?.flatMap((call) => callOf(call, level === 'tool-call' ? run.toolCalls : []) ?? [])
  const score = scoreOf(stored)
  if (score === undefined) return undefined
  return {
    scorer: {
      id: scorerId,
      ...(isLevel(level) && { level }),
      ...(about !== undefined && {
        version: about.version,
        kind: about.judgeModel === undefined ? 'code' : 'judge',
        range: about.range,
        better: about.better,
      }),
    },
    runId: run.id,
    revision: about?.revision ?? 1,
    complete: run.complete,
    ...(about?.judgeModel !== undefined && { judge: { model: about.judgeModel } }),
    // `spanscore score` scores every run of a file, and so writes no probability.
    ...(about !== undefined && { probability: about.probability ?? 1 }),
    ...(about?.upstreamProbability !== undefined && { upstreamProbability: about.upstreamProbability }),
    score,
    ...(calls !== undefined && { calls }),
  }
}

function isLevel(level: string | undefined): level is 'tool-call' | 'retrieval' | 'conversation' {
  return level === 'tool-call' || level === 'retrieval' || level === 'conversation'
}

function callOf(
  { index, ...stored }: StoredCallScore,
  toolCalls: AgentRun['toolCalls'],
): NonNullable<ShownEvaluation['calls']>[number] | undefined {
  const score = scoreOf(stored)
  if (index === undefined || score === undefined) return undefined
  const name = toolCalls[index]?.name
  return { index, ...(name !== undefined && { name }), score }
}

function scoreOf({
  value,
  label,
  explanation,
  findings,
  status,
  reason,
  message,
}: Omit<StoredScore, 'scorerId'>): ShownEvaluation['score'] | undefined {
  if (value !== undefined) {
    const isVerdict = label === 'pass' || label === 'fail'
    return {
      status: 'scored',
      value,
      ...(isVerdict && { label }),
      ...(explanation !== undefined && { explanation }),
      ...(findings !== undefined && { findings }),
    }
  }
  if (status === 'failed' || status === 'skipped') {
    const said = { message: message ?? reason ?? status }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a reason of the version that wrote the file
    return (
      status === 'failed'
        ? { status, code: reason ?? 'unknown', ...said }
        : { status, reason: reason ?? 'unknown', ...said }
    ) as ShownEvaluation['score']
  }
  return undefined
}
