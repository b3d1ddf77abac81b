import { useEffect, useRef, useState } from 'preact/hooks'

import { ApiError, read } from './api.ts'
import type { Query } from './api.ts'

/** Calls back with each line of a text that arrives in parts. */
export async function readLines(response: Response, onLine: (line: string) => void): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) return
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  }
  if (rest !== '') onLine(rest)
}

/** How often a visible tab asks whether something has changed. A stream would take one of the six connections that a browser has for all tabs. */
const EVERY_MS = 2000

/** A service without an answer for this long is gone. */
const LATE_MS = 6000

/** What `/api/changes` answers. */
interface ServiceState {
  readonly changes: number
  /** Whether the service has stopped taking spans. */
  readonly isStuck: boolean
}

/** The number of changes, so that views request their data again; and whether the service works. */
export function useChanges(): { readonly changes: number; readonly isConnected: boolean } {
  const [state, setState] = useState({ changes: 0, isConnected: true })
  useEffect(() => {
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async (): Promise<void> => {
      clearTimeout(timer)
      if (document.visibilityState !== 'visible') return
      const signal = AbortSignal.any([controller.signal, AbortSignal.timeout(LATE_MS)])
      const now = await read<ServiceState>('/api/changes', {}, signal).catch(() => undefined)
      if (controller.signal.aborted) return
      setState(({ changes }) => ({
        changes: now?.changes ?? changes,
        isConnected: now !== undefined && !now.isStuck,
      }))
      clearTimeout(timer)
      timer = setTimeout(() => void look(), EVERY_MS)
    }
    const onVisible = (): void => void look()
    document.addEventListener('visibilitychange', onVisible)
    void look()
    return () => {
      controller.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisible)
    }
  }, [])
  return state
}

export interface Loaded<Answer> {
  readonly value: Answer | undefined
  readonly error: string | undefined
}

interface Pending {
  readonly key: string
  readonly controller: AbortController
  isBusy: boolean
  isMissed: boolean
}

/** The response of a path, which is requested again when the query or `again` changes. The earlier response stays until the new one has arrived. */
export function useAnswer<Answer>(path: string | undefined, query: Query, again: unknown = 0): Loaded<Answer> {
  const [state, setState] = useState<Loaded<Answer>>({ value: undefined, error: undefined })
  const pending = useRef<Pending | undefined>(undefined)
  const key = path === undefined ? '' : `${path}${JSON.stringify(query)}`
  useEffect(() => {
    const before = pending.current
    if (path === undefined) return
    if (before?.key === key && before.isBusy) {
      // Changes that arrive faster than responses cause one request.
      before.isMissed = true
      return
    }
    if (before?.key !== key) before?.controller.abort()
    const own: Pending = { key, controller: new AbortController(), isBusy: true, isMissed: false }
    pending.current = own
    const load = async (): Promise<void> => {
      do {
        own.isMissed = false
        const next = await read<Answer>(path, query, own.controller.signal).then(
          (value) => ({ value, error: undefined }),
          (error: unknown) => ({ error }),
        )
        if (pending.current !== own) return
        if ('value' in next) setState(next)
        else setState(({ value }) => ({ value: isGone(next.error) ? undefined : value, error: messageOf(next.error) }))
      } while (own.isMissed)
      own.isBusy = false
    }
    void load()
  }, [key, again])
  useEffect(
    () => () => {
      pending.current?.controller.abort()
      pending.current = undefined
    },
    [],
  )
  return state
}

/** The pages of a list: the first, which is kept up to date, and those that were loaded after it. */
export function useMore<Page extends { readonly next?: string | undefined }>(
  path: string,
  query: Query,
  first: Page | undefined,
): { readonly pages: readonly Page[]; readonly next: string | undefined; readonly load: () => void } {
  const [loaded, setLoaded] = useState<{ readonly key: string; readonly pages: readonly Page[] }>({
    key: '',
    pages: [],
  })
  const key = JSON.stringify({ ...query, fromMs: undefined })
  const later = loaded.key === key ? loaded.pages : []
  const pages = first === undefined ? later : [first, ...later]
  const next = pages.at(-1)?.next
  const load = () => {
    if (next === undefined) return
    void read<Page>(path, { ...query, after: next }).then((page) => setLoaded({ key, pages: [...later, page] }))
  }
  return { pages, next, load }
}

function isGone(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 404 || error.status === 401)
}

/** The message of an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'No answer.'
}
