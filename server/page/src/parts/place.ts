import { useLocation } from 'preact-iso'

import { toSearch } from '../api.ts'

/** Choices that are part of the address, so that a link shows the same. */
export function useChoices(): {
  readonly choices: Readonly<Record<string, string>>
  readonly choose: (change: Readonly<Record<string, string>>) => void
} {
  const { path, query, route } = useLocation()
  return { choices: query, choose: (change) => route(`${path}${toSearch({ ...query, ...change })}`, true) }
}

type ListPath = '/' | '/conversations'

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

/** The choices of time, as the first moment that counts: milliseconds since the epoch. */
export const TIMES: readonly { readonly value: string; readonly name: string }[] = [
  { value: '900', name: 'last 15 minutes' },
  { value: '3600', name: 'last hour' },
  { value: '86400', name: 'last day' },
  { value: '604800', name: 'last week' },
]

/** The start of the period, rounded so that the same choice leads to the same request for a while. */
export function fromMs(seconds: string | undefined): number | undefined {
  const value = Number(seconds)
  if (seconds === undefined || seconds === '' || !(value > 0)) return undefined
  return Math.floor((Date.now() - value * 1000) / 10_000) * 10_000
}
