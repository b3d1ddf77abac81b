import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll } from 'vitest'

import { startServer } from '../../src/start.ts'
import type { RunningServer, ServerOptions } from '../../src/start.ts'
import { serverOptions } from '../server-options.ts'

/** A service with a page, and its API as the page uses it. */
export interface PageUnderTest {
  readonly server: RunningServer
  readonly origin: string
  readonly token: string
  get<Answer>(path: string): Promise<Answer>
  post<Answer>(path: string, body: unknown): Promise<Answer>
}

export async function startWithPage(folder: string, change: Partial<ServerOptions> = {}): Promise<PageUnderTest> {
  const server = await startServer({
    ...serverOptions('http://unused'),
    to: undefined,
    dataFolder: folder,
    page: { host: '127.0.0.1', port: 0, allowedHosts: [], retention: { maxAgeMs: 1e12, maxBytes: 1e12 } },
    ...change,
  })
  const url = new URL(server.pageUrl!)
  const token = url.hash.slice('#token='.length)
  const call = async (path: string, init: { method?: string; headers?: Record<string, string>; body?: string }) => {
    const response = await fetch(new URL(path, url), {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${token}` },
    })
    const body: unknown = await response.json()
    if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`)
    return body
  }
  return {
    server,
    origin: url.origin,
    token,
    get: async <Answer>(path: string) => (await call(path, {})) as Answer,
    post: async <Answer>(path: string, body: unknown) =>
      (await call(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })) as Answer,
  }
}

/** A service with a page for all tests of a file, or of a `describe`, with its own data folder. */
export function usePage(): { readonly page: PageUnderTest; restart(): Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-page-'))
  let page: PageUnderTest | undefined
  beforeAll(async () => {
    page = await startWithPage(folder)
  })
  afterAll(async () => {
    await page?.server.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    get page() {
      return page!
    },
    restart: async () => {
      await page?.server.stop()
      page = await startWithPage(folder)
    },
  }
}

/** Waits until an answer is as expected. */
export async function eventually<Answer>(
  ask: () => Promise<Answer>,
  holds: (answer: Answer) => boolean,
  timeoutMs = 10_000,
): Promise<Answer> {
  const endMs = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (holds(answer)) return answer
    if (performance.now() > endMs)
      throw new Error(`Waited ${timeoutMs} ms; the last answer: ${JSON.stringify(answer).slice(0, 500)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
