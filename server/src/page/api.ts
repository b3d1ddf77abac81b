import type { DatabaseSync } from 'node:sqlite'

import { Background, labelLineSchema, labelSchema } from 'spanscore/engine'
import type { Label } from 'spanscore/engine'
import { z } from 'zod'

import { readPerson } from '../person.ts'
import type { Forgotten, Person } from '../person.ts'
import { VERSION } from '../version.ts'
import { readConversation } from './conversation-page.ts'
import { loadExample } from './example.ts'
import type { Ingest, ShownRuns } from './ingest.ts'
import type { ConversationCounts } from './messages.ts'
import type { OverviewReader } from './overview.ts'
import { BadRequestError } from './page-server.ts'
import type { ApiAnswer, ApiRequest } from './page-server.ts'
import { readRun, readRunsToTry, runAsCase, runAsJson, asShown } from './run-page.ts'
import { commonOf } from './store/common.ts'
import { compareScorers, compareScores } from './store/compare.ts'
import { listConversations } from './store/conversation-list.ts'
import { drawScores } from './store/draws.ts'
import type { HourCounter } from './store/hours.ts'
import { readNow } from './store/now.ts'
import { exportLabels, importLabels } from './store/label-files.ts'
import * as labels from './store/labels.ts'
import { listRuns } from './store/run-list.ts'
import type { Retention } from './store/forgetting.ts'
import { sidesOf } from './store/sides.ts'
import { DIMENSIONS, summariseScores, timeRange } from './store/score-sums.ts'
import type { Dimension, ScoreFilter } from './store/score-sums.ts'
import { exportScoredRuns } from './store/trace-files.ts'
import { countWithheld, endDraw, hasWithheldLabels, revealScore } from './store/withheld.ts'
import type { Trials } from './trials.ts'

/** What the views that only read need. */
export interface ReadApiParts {
  readonly database: DatabaseSync
  readonly hours: HourCounter
  readonly runs: ShownRuns
  readonly overview: OverviewReader
  readonly trials: Trials
  /** What the overview has besides the stored choices. */
  readonly about: () => PageFacts
  readonly nowMs: () => number
  /** Whether the receiving thread has stopped running. */
  readonly isStuck: () => boolean
}

/** What a page is of. */
export interface PageFacts extends Partial<ConversationCounts> {
  /** The files that are shown; `undefined` for the page of a service. */
  readonly files?: readonly string[]
  /** Messages of the service that were dropped because the page was behind. */
  readonly left: number
  /** Where applications send their spans; `''` if nowhere. */
  readonly otlpUrl: string
  /** Judges that give no scores now, and why. @default none */
  readonly judges?: readonly string[]
  readonly jaegerUrl?: string | undefined
  readonly retention?: Retention
}

/** The parts of the API of a service. */
export interface ApiParts extends ReadApiParts {
  readonly ingest: Ingest
  readonly random: () => number
  /** Counts, or deletes, what the service keeps of a person. */
  readonly forget: (person: Person, isCount: boolean) => Promise<Forgotten | { readonly error: string }>
}

type Handler = (request: ApiRequest) => Promise<ApiAnswer> | ApiAnswer

const optionalNumber = z.coerce.number().finite().optional()
const text = z.string().min(1).max(1000).optional()

/** The viewer, sent with every request: scores that this person should label are withheld. */
const labeller = z.string().max(200).default('')

/** Filters on runs that all views share. */
const runFilter = {
  service: text,
  user: text,
  conversation: text,
  trait: text,
  text,
  minSeconds: optionalNumber,
  minUsd: optionalNumber,
}

/** What all views choose besides. */
const shared = { ...runFilter, agent: text, fromMs: optionalNumber, toMs: optionalNumber, labeller }

/** Which page of a list. */
const listPage = {
  after: z
    .string()
    .regex(/^[\d.e~-]{1,60}$/)
    .optional(),
  limit: z.coerce.number().int().optional(),
}

const listQuery = z.object({
  ...shared,
  ...listPage,
  agentVersion: text,
  status: text,
  feedback: z.enum(['any', 'disliked', 'liked', 'commented']).optional(),
  scorer: text,
  version: text,
  model: text,
  label: z.enum(['pass', 'fail', 'none']).optional(),
  sort: z.enum(['newest', 'worst', 'longest', 'dearest']).optional(),
  minScore: optionalNumber,
  maxScore: optionalNumber,
})
const conversationQuery = z.object({
  ...shared,
  ...listPage,
  scorer: text,
  label: z.enum(['pass', 'fail']).optional(),
  sort: z.enum(['worst', 'newest']).optional(),
})
const scoreFilter = z.object({
  ...shared,
  scorer: z.string().min(1),
  version: text,
  agentVersion: text,
  model: text,
})
const name = z.string().min(1).max(200)
const labelBody = z.object({
  runId: name,
  scorer: name,
  version: name,
  labeller: name,
  label: z.enum(['pass', 'fail']),
  note: z.string().max(4000),
})
const revealBody = z.object({ runId: name, scorer: name, version: name })
const drawBody = z.object({ scorer: name, version: name, count: z.int().min(1).max(500) })
const endBody = z.object({ scorer: name, version: name })
const exportQuery = z.object({ scorer: name, labeller })
const trialBody = z.object({ scorer: name, runIds: z.array(name).min(1).max(50), capUsd: z.number().min(0).optional() })

/** Maximum number of points of a chart over time. */
const MAX_BUCKETS = 60
/** A point has the scores of about so many runs, because the interval of fewer says little. */
const RUNS_IN_BUCKET = 10
/** With fewer points, no course is visible. */
const MIN_BUCKETS = 4
const BUCKET_SIZES_MS = [5, 15, 60, 300, 900, 3600, 10_800, 21_600, 86_400, 604_800].map((seconds) => seconds * 1000)

const nowQuery = z.object({
  hours: z.coerce
    .number()
    .int()
    .min(1)
    .max(24 * 31)
    .optional(),
  labeller,
})

/** What both sides of a comparison share. */
const SHARED: ReadonlySet<string> = new Set(['scorer', 'agent', 'labeller', ...Object.keys(runFilter)])

/** The API of the page of a service: everything that its views read and do. */
export function createApi(parts: ApiParts): Handler {
  const { database, ingest } = parts
  return answerWith({
    ...readingRoutes(parts),
    ...labelRoutes(parts),
    'GET /api/forget': (request) => forgetRoute(parts, request, true),
    'DELETE /api/forget': (request) => forgetRoute(parts, request, false),
    'POST /api/example': () => json({ runId: loadExample(ingest, database) }),
  })
}

async function forgetRoute({ forget }: ApiParts, { query }: ApiRequest, isCount: boolean): Promise<ApiAnswer> {
  const forgotten = await forget(personIn(query), isCount)
  return 'error' in forgotten ? { status: 503, json: forgotten } : json(forgotten)
}

function personIn(query: URLSearchParams): Person {
  try {
    return readPerson(Object.fromEntries(query))
  } catch (error) {
    throw new BadRequestError(error instanceof Error ? error.message : 'Expected a person, got something else.')
  }
}

/** The API of a page that only shows what there is. */
export function createReadApi(parts: ReadApiParts): Handler {
  return answerWith(readingRoutes(parts))
}

type Routes = Readonly<Record<string, Handler>>

function answerWith(routes: Routes): Handler {
  return (request) =>
    routes[`${request.method} ${request.path}`]?.(request) ?? { status: 404, json: { error: 'There is no such path.' } }
}

/** What stores nothing. */
function readingRoutes(parts: ReadApiParts): Routes {
  const { database, runs, overview, trials, nowMs, about } = parts
  const background = new Background()
  return {
    'GET /api/overview': () =>
      json({
        version: VERSION,
        ...overview.read(),
        open: runs.openCount,
        ...about(),
      }),
    'GET /api/now': async ({ query }) => {
      const { hours } = parsed(nowQuery, Object.fromEntries(query))
      await parts.hours.count()
      const period = about().files === undefined ? (hours ?? 24) : undefined
      return json(asShown(await background.run(readNow(database, period, nowMs()), true)))
    },
    'GET /api/changes': () => json({ changes: runs.changes, isStuck: parts.isStuck() }),
    'GET /api/runs': async ({ query }) => {
      const filter = parsed(listQuery, Object.fromEntries(query))
      const page = await background.run(listRuns(database, filter), true)
      return json({ ...page, open: runs.openRuns() })
    },
    'GET /api/run': ({ query }) => {
      const found = readRun(parts, query.get('id') ?? '', viewerOf(query))
      return found === undefined ? missing('run') : json(found)
    },
    'GET /api/run.json': ({ query }) => {
      const run = runAsJson(parts, query.get('id') ?? '', viewerOf(query))
      return run === undefined ? missing('run') : json(run)
    },
    'GET /api/case': ({ query }) => {
      const found = runAsCase(parts, query.get('id') ?? '', viewerOf(query))
      return found === undefined ? missing('run with a question') : json(found)
    },
    'GET /api/conversations': ({ query }) =>
      json(listConversations(database, parsed(conversationQuery, Object.fromEntries(query)))),
    'GET /api/conversation': ({ query }) => {
      const found = readConversation(database, query.get('key') ?? '', viewerOf(query))
      return found === undefined ? missing('conversation') : json(found)
    },
    'GET /api/scores': ({ query }) => scoresOverTime(parts, query, background),
    'GET /api/compare': ({ query }) => {
      return json(compareScores(database, sideIn(query, 'before'), sideIn(query, 'after')))
    },
    'GET /api/compare/all': async ({ query }) =>
      json(await background.run(compareScorers(database, sideIn(query, 'before'), sideIn(query, 'after')))),
    'GET /api/common': async ({ query }) => {
      const filter = parsed(scoreFilter, Object.fromEntries(query))
      const found = await background.run(commonOf(database, filter, nowMs()))
      return found === undefined
        ? refused('Conversations have no traits; choose a scorer of runs.')
        : json(asShown(found))
    },
    'GET /api/sides': ({ query }) => json(sidesOf(database, parsed(scoreFilter, Object.fromEntries(query)), nowMs())),
    'GET /api/scorers': () => json({ scorers: trials.scorers() }),
    'POST /api/trials/estimate': ({ body, query }) => {
      const { scorer, runIds } = parsed(trialBody, body)
      const estimate = trials.estimate(scorer, readRunsToTry(parts, runIds, scorer, viewerOf(query)))
      return estimate === undefined ? missing('configured scorer') : json(estimate)
    },
    'POST /api/trials': ({ body, query }) => {
      const { scorer, runIds, capUsd = 0 } = parsed(trialBody, body)
      if (!trials.scorers().some(({ id }) => id === scorer)) return missing('configured scorer')
      const chosen = readRunsToTry(parts, runIds, scorer, viewerOf(query))
      return {
        type: 'application/x-ndjson',
        write: (line) =>
          trials.run(scorer, chosen, capUsd, (result) => void line(`${JSON.stringify(asShown(result))}\n`)),
      }
    },
  }
}

/** One side of a comparison: what both share, and what has its prefix. */
function sideIn(query: URLSearchParams, prefix: string): ScoreFilter {
  const given = [...query].flatMap(([key, value]) =>
    SHARED.has(key) ? [[key, value]] : key.startsWith(`${prefix}.`) ? [[key.slice(prefix.length + 1), value]] : [],
  )
  return parsed(scoreFilter, Object.fromEntries(given))
}

/** People's labels: the page of a service stores them. */
function labelRoutes({ database, ingest, nowMs, random }: ApiParts): Routes {
  const changed = (answer: unknown) => {
    ingest.changed()
    return json(answer)
  }
  return {
    'GET /api/labels': ({ query }) => {
      const asked = z.object({ scorer: name, version: name, labeller })
      const { scorer, version, labeller: viewer } = parsed(asked, Object.fromEntries(query))
      const waiting = labels.waitingRuns(database, scorer, version, viewer)
      const labelled = labels.labelsShownTo(database, scorer, version, { viewer })
      return json({
        waiting,
        progress: labels.progressOf(database, scorer, version, viewer, waiting.length),
        labelled,
        agreement: labels.agreementOf(labelled),
      })
    },
    'POST /api/labels/draw': ({ body }) => {
      const { scorer, version, count } = parsed(drawBody, body)
      const drawn = drawScores(database, scorer, version, count, nowMs(), random)
      return changed({ drawn })
    },
    'POST /api/labels': ({ body }) => {
      if (!labels.saveLabel(database, parsed(labelBody, body), nowMs())) return missing('score')
      return changed({})
    },
    'POST /api/labels/reveal': ({ body }) => {
      revealScore(database, parsed(revealBody, body), nowMs())
      return changed({})
    },
    'POST /api/labels/end': ({ body }) => {
      const { scorer, version } = parsed(endBody, body)
      const shown = endDraw(database, scorer, version, nowMs())
      return changed({ shown })
    },
    'GET /api/labels/runs': ({ query }) => {
      const { scorer, labeller: viewer } = parsed(exportQuery, Object.fromEntries(query))
      const withheld = countWithheld(database, { sql: 's.scorer = ?', values: [scorer], viewer: { viewer } })
      // Without these runs the file would misrepresent all runs; with them, it would reveal their verdicts.
      if (withheld > 0)
        return refused(
          `${withheld} runs were drawn and have no label yet. Label them or end the draw, and export the runs then.`,
        )
      return {
        type: 'application/x-ndjson',
        fileName: fileName('runs', scorer),
        write: async (line) => {
          for (const each of exportScoredRuns(database, scorer, { viewer }, nowMs())) {
            await line(each)
            // Writing many runs must not delay incoming spans.
            await new Promise(setImmediate)
          }
        },
      }
    },
    'GET /api/labels/export': ({ query }) => {
      const { scorer, labeller: viewer } = parsed(exportQuery, Object.fromEntries(query))
      if (hasWithheldLabels(database, scorer, { viewer }))
        return refused('Others have labelled runs that you have yet to label. Label them, and export the labels then.')
      const lines = exportLabels(database, scorer).map((label) => `${JSON.stringify(label)}\n`)
      return {
        type: 'application/x-ndjson',
        fileName: fileName('labels', scorer),
        write: (line) => line(lines.join('')),
      }
    },
    'POST /api/labels/import': ({ body }) => {
      const { lines } = parsed(z.object({ lines: z.string() }), body)
      const found = readLabels(lines)
      importLabels(database, found)
      return changed({ imported: found.length })
    },
  }
}

function fileName(what: string, scorer: string): string {
  return `${what}-${scorer.replaceAll(/[^\w-]/g, '_')}.jsonl`
}

async function scoresOverTime(
  { database }: ReadApiParts,
  query: URLSearchParams,
  background: Background,
): Promise<ApiAnswer> {
  const filter: ScoreFilter = parsed(scoreFilter, Object.fromEntries(query))
  const by = query.get('by') ?? ''
  const range = timeRange(database, filter)
  const spanMs = range === undefined ? 0 : (filter.toMs ?? range.toMs) - (filter.fromMs ?? range.fromMs)
  const buckets = Math.min(MAX_BUCKETS, Math.max(MIN_BUCKETS, (range?.runs ?? 0) / RUNS_IN_BUCKET))
  const bucketMs = BUCKET_SIZES_MS.find((size) => spanMs / size <= buckets) ?? 604_800_000
  const over = { by: isDimension(by) ? by : undefined, bucketMs, drawn: query.get('drawn')?.split('\n') }
  const summed = await background.run(summariseScores(database, filter, over))
  return json({ ...summed, bucketMs })
}

function isDimension(by: string): by is Dimension {
  return DIMENSIONS.has(by)
}

/** Reads labels in JSON Lines. Unlabelled lines are skipped. An invalid line is named, and nothing is imported. */
function readLabels(lines: string): readonly Label[] {
  return lines.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return []
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      throw new BadRequestError(`Line ${index + 1}: expected a label in JSON, got text that does not parse.`)
    }
    const given = labelLineSchema.safeParse(value)
    if (given.success && given.data.label === null) return []
    const label = labelSchema.safeParse(value)
    if (label.success) return [label.data]
    throw new BadRequestError(`Line ${index + 1}: ${z.prettifyError(label.error)}`)
  })
}

function viewerOf(query: URLSearchParams): string {
  return parsed(labeller, query.get('labeller') ?? undefined)
}

function parsed<Value>(schema: z.ZodType<Value>, value: unknown): Value {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new BadRequestError(z.prettifyError(result.error))
}

function json(value: unknown): ApiAnswer {
  return { status: 200, json: value }
}

function refused(error: string): ApiAnswer {
  return { status: 409, json: { error } }
}

function missing(what: string): ApiAnswer {
  return { status: 404, json: { error: `There is no such ${what}; it may have been deleted because of its age.` } }
}
