import { useEffect, useRef, useState } from 'preact/hooks'

import { ApiError, ask, read } from './api.ts'
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

/** A connection that was silent for this long is closed. The service sends something every 5 s. */
const SILENT_MS = 15_000

interface LiveState {
  readonly changes: number
  readonly isStuck: boolean
}

/** The number of changes, so that views request their data again; and whether the service works. */
export function useChanges(): { readonly changes: number; readonly isConnected: boolean } {
  const [state, setState] = useState({ changes: 0, isConnected: false })
  useEffect(() => {
    const controller = new AbortController()
    const follow = async (): Promise<void> => {
      const connection = new AbortController()
      const giveUp = (): void => connection.abort()
      let silence = setTimeout(giveUp, SILENT_MS)
      let seen = -1
      try {
        // `EventSource` cannot send the token in a header.
        const response = await ask('/api/live', { signal: AbortSignal.any([controller.signal, connection.signal]) })
        await readLines(response, (line) => {
          if (!line.startsWith('data:')) return
          clearTimeout(silence)
          silence = setTimeout(giveUp, SILENT_MS)
          const now: LiveState = JSON.parse(line.slice('data:'.length))
          const isNew = now.changes !== seen
          seen = now.changes
          setState(({ changes }) => ({ changes: isNew ? changes + 1 : changes, isConnected: !now.isStuck }))
        })
      } catch {
        // The next try shows whether the service is back.
      }
      clearTimeout(silence)
      if (controller.signal.aborted) return
      setState(({ changes }) => ({ changes, isConnected: false }))
      setTimeout(() => void follow(), 1000)
    }
    void follow()
    return () => controller.abort()
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
