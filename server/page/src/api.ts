import type { AgentRun } from '../../../src/model/agent-run.ts'
import type { SourceSpan } from '../../../src/spans/source-span.ts'
import type { RunDetails, RunList, ScoresOverTime, ServiceOverview } from '../../src/page/answers.ts'
import type { OpenRun } from '../../src/page/ingest.ts'
import type { ShownEvaluation as Evaluation } from '../../src/page/shown-evaluation.ts'
import type { Thread } from '../../src/page/conversation-page.ts'
import type { ConversationPage, ConversationRow } from '../../src/page/store/conversation-list.ts'
import type { Now } from '../../src/page/store/now.ts'
import type { ListedRun } from '../../src/page/store/run-list.ts'
import type { AgreementWithPeople, DrawnRun, LabelledRun, LabelProgress } from '../../src/page/store/labels.ts'
import type { CommonAnswer } from '../../src/page/store/common.ts'
import type { ComparedScorer, Comparison } from '../../src/page/store/compare.ts'
import type { Side, Sides } from '../../src/page/store/sides.ts'
import type { ScoreSeries, ScoreSummary } from '../../src/page/store/score-sums.ts'
import type { ShownScorer, TrialEstimate, TrialResult } from '../../src/page/trials.ts'
import { labellerName } from './labeller.ts'

export type {
  AgentRun,
  AgreementWithPeople,
  CommonAnswer,
  ComparedScorer,
  Comparison,
  ConversationPage,
  ConversationRow,
  ShownScorer,
  Evaluation,
  LabelledRun,
  ListedRun,
  Now,
  OpenRun,
  RunDetails,
  RunList,
  ScoreSeries,
  ScoresOverTime,
  ScoreSummary,
  ServiceOverview,
  Side,
  Sides,
  SourceSpan,
  Thread,
  TrialEstimate,
  TrialResult,
}

export interface LabelState {
  readonly waiting: readonly DrawnRun[]
  readonly progress: LabelProgress
  readonly labelled: readonly LabelledRun[]
  readonly agreement: AgreementWithPeople
}

const TOKEN = 'spanscore-token'

/** The path below which a proxy shows the page, which is that of this program; `''` if there is none. Tests load it as a file. */
const BASE = import.meta.url.startsWith('http') ? new URL('.', import.meta.url).pathname.replace(/\/$/, '') : ''

/** The address of a view or of the interface, as the browser knows it. */
export function at(path: string): string {
  return BASE + path
}

/** The address that the service prints has the token after `#`. The token is stored, and removed from the address. */
export function takeToken(): void {
  const found = /^#token=([\w-]+)$/.exec(location.hash)?.[1]
  if (found === undefined) return
  keepToken(found)
  history.replaceState(null, '', location.pathname + location.search)
}

/** Stores the token, or the one in an address that somebody pasted. */
export function keepToken(given: string): void {
  localStorage.setItem(TOKEN, given.trim().split('#token=').at(-1) ?? '')
}

/** Addresses are typed and pasted. One that cannot be decoded would break the router, so it is replaced by an address without a view. */
export function mendAddress(): void {
  try {
    decodeURI(location.pathname)
  } catch {
    history.replaceState(null, '', at('/nowhere'))
  }
}

/** A failed request; the message says what was expected. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/**
 * Sends a request to the service. Its token is a header, so that other pages cannot act for the visitor. Without a stored one, a proxy that has
 * signed the visitor in by a cookie may add it. Each request names the viewer: scores that this person should label are withheld.
 */
export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  const token = localStorage.getItem(TOKEN)
  if (token !== null) headers.set('authorization', `Bearer ${token}`)
  const name = labellerName()
  const viewer = name === '' ? '' : `${path.includes('?') ? '&' : '?'}labeller=${encodeURIComponent(name)}`
  const response = await fetch(at(path) + viewer, { ...init, headers, cache: 'no-store' })
  if (response.redirected)
    throw new ApiError(401, 'Expected an answer of the page, got that of a sign-on: load this page again.')
  if (response.ok) return response
  const body: unknown = await response.json().catch(() => undefined)
  const message =
    typeof body === 'object' && body !== null && 'error' in body ? String(body.error) : response.statusText
  throw new ApiError(response.status, message)
}

/** Reads JSON from the service; `Answer` is the type of the response. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names what the path gives
export async function read<Answer>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Answer> {
  const response = await ask(`${path}${toSearch(query)}`, signal === undefined ? {} : { signal })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- page and service are one package
  return (await response.json()) as Answer
}

/** Sends JSON to the service. */
export function send(path: string, body: unknown): Promise<Response> {
  return ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}

/** Sends JSON to the service, and reads JSON. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names what the path gives
export async function exchange<Answer>(path: string, body: unknown): Promise<Answer> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- page and service are one package
  return (await (await send(path, body)).json()) as Answer
}

export type Query = Readonly<Record<string, string | number | undefined>>

/** `?a=1&b=2`, without empty values. */
export function toSearch(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString()}`
}
