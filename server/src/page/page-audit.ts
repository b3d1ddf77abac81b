import type { IncomingHttpHeaders } from 'node:http'

import { reportLine } from '../log-line.ts'

/** The parts of a request to the page that are noted. */
interface Noted {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
}

/** The page reads again what it shows when something changes. What a user opened is noted again after so long. */
const AGAIN_MS = 600_000

/** How many of these are remembered. */
const MAX_KNOWN = 10_000

const MAX_USER = 200

/** What is noted, and which parts of the request name it. Lists, figures and refreshes are not noted. */
const NOTED: Readonly<Record<string, readonly [what: string, ...names: readonly string[]]>> = {
  'GET /api/run': ['opened run', 'id'],
  'GET /api/run.json': ['downloaded run', 'id'],
  'GET /api/case': ['made a case of run', 'id'],
  'GET /api/conversation': ['opened conversation', 'key'],
  'GET /api/labels/runs': ['downloaded labelled runs', 'scorer'],
  'GET /api/labels/export': ['downloaded labels', 'scorer'],
  'POST /api/labels': ['labelled run', 'runId', 'scorer'],
  'POST /api/labels/draw': ['drew runs to label', 'scorer'],
  'POST /api/labels/reveal': ['revealed scores of run', 'runId', 'scorer'],
  'POST /api/labels/end': ['ended labelling', 'scorer'],
  'POST /api/labels/import': ['imported labels'],
  'POST /api/trials': ['tried a scorer', 'scorer', 'runIds'],
  'DELETE /api/forget': ['deleted', 'user', 'conversation', 'trace'],
}

/** Notes who opened, took or changed what, by the name that a proxy gives. The notes hold ids, and never content. */
export class PageAudit {
  readonly #header: string
  readonly #report: (line: string) => void
  readonly #nowMs: () => number
  readonly #latest = new Map<string, number>()

  /** @param header the header in which the proxy names the user */
  constructor(header: string, report: (line: string) => void, nowMs: () => number) {
    this.#header = header.toLowerCase()
    this.#report = report
    this.#nowMs = nowMs
  }

  /** Notes a request whose token was right. */
  note(headers: IncomingHttpHeaders, { method, path, query, body }: Noted): void {
    const search = query.get('text')
    const [what, ...names] = search === null ? (NOTED[`${method} ${path}`] ?? []) : ['searched texts']
    if (what === undefined) return
    const given: Readonly<Record<string, unknown>> =
      typeof body === 'object' && body !== null ? { ...body } : Object.fromEntries(query)
    const ids = names.flatMap((name) => given[name] ?? []).map(String)
    const user = reportLine(headers[this.#header]?.toString() ?? '').slice(0, MAX_USER) || 'nobody (no header)'
    // Ids come from strangers.
    const line = reportLine([user, what, ...ids].join(' '))
    if (method === 'GET' && this.#isKnown(`${line}\n${search}`)) return
    this.#report(line)
  }

  #isKnown(key: string): boolean {
    const nowMs = this.#nowMs()
    const latestMs = this.#latest.get(key)
    if (this.#latest.size >= MAX_KNOWN) this.#latest.clear()
    this.#latest.set(key, nowMs)
    return latestMs !== undefined && nowMs - latestMs < AGAIN_MS
  }
}
