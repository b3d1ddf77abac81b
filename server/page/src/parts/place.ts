import { useLocation } from 'preact-iso'

import { toSearch } from '../api.ts'
import type { Query } from '../api.ts'

/** What the person chose. It is in the address, so that a link shows the same. */
export type Choices = Readonly<Record<string, string>>

/** The choices in the address. A change to `''` removes one. */
export function useChoices(): { readonly choices: Choices; readonly choose: (change: Choices) => void } {
  const { path, query, route } = useLocation()
  return { choices: query, choose: (change) => route(`${path}${toSearch({ ...query, ...change })}`, true) }
}

/** Filters that mean the same in all views. They are kept from view to view. */
const SHARED = 'agent scorer service user conversation trait minSeconds minUsd time since from to'.split(' ')

/** The choices that another view takes over. */
export function sharedOf(choices: Choices): Choices {
  return Object.fromEntries(
    SHARED.flatMap((name) => (choices[name] === undefined ? [] : [[name, choices[name]] as const])),
  )
}

/** A request's query: the choices, with their time as the first moment that counts. */
export function queryOf(choices: Choices): Query {
  const { time: _time, since: _since, from, to, ...rest } = choices
  return { ...rest, fromMs: from ?? fromMs(choices), toMs: to }
}

/** The filters of a request on runs that all views share. */
export function filterOf(choices: Choices): Query {
  return queryOf(sharedOf(choices))
}

/** Adds a trait, such as `app.plan = free`, to those that runs must have: one a line. */
export function withTrait({ trait = '' }: Choices, added: string): string {
  return [...new Set([...trait.split('\n').filter((each) => each !== ''), added])].join('\n')
}

type ListPath = '/runs' | '/conversations'

const searches = new Map<ListPath, string>()

/** Keeps how a list is filtered, so that what is in it leads back to it. */
export function keepListPlace(path: ListPath, search: string): void {
  searches.set(path, search)
}

/** Address of a list, as it was last shown. */
export function placeOfList(path: ListPath): string {
  return path + (searches.get(path) ?? '')
}

/** Address of the page of a conversation. */
export function placeOfConversation(key: string): string {
  return `/conversations/${key}`
}

/** Address of the page of a run. */
export function placeOf(runId: string): string {
  return `/runs/${encodeURIComponent(runId)}`
}

/** The choices of time, in seconds. */
export const TIMES: readonly { readonly value: string; readonly name: string }[] = [
  { value: '900', name: 'last 15 minutes' },
  { value: '3600', name: 'last hour' },
  { value: '21600', name: 'last 6 hours' },
  { value: '86400', name: 'last 24 hours' },
  { value: '604800', name: 'last 7 days' },
]

/** The first moment that counts, in milliseconds since the epoch, rounded so that the same choice leads to the same request for a while. */
export function fromMs({ time, since }: Choices): number | undefined {
  const sinceMs = since === undefined ? Number.NaN : Date.parse(since)
  if (!Number.isNaN(sinceMs)) return sinceMs
  const seconds = Number(time ?? '')
  if (!(seconds > 0)) return undefined
  return Math.floor((Date.now() - seconds * 1000) / 10_000) * 10_000
}
