import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { Page } from '../../src/page/page.ts'
import { makeRun, post } from '../traces.ts'
import { eventually, startWithPage } from './page-client.ts'

/** Scorers of somebody who forgot a bound: in the page's thread, they take all memory that they can get. */
const GREEDY = `
  import { isMainThread } from 'node:worker_threads'
  import { createLoopScorer } from 'spanscore/scorers/code'
  const taken = []
  while (!isMainThread) taken.push(Array.from({ length: 1_000_000 }).fill(0.5))
  export default { scorers: [createLoopScorer()] }
`

it('a page that ends is named by /ready and started again, and the service goes on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-ended-'))
  const configPath = join(folder, 'spanscore.config.mjs')
  writeFileSync(configPath, GREEDY)
  const lines: string[] = []
  const page = await startWithPage(join(folder, 'data'), { configPath, report: (line) => lines.push(line) })
  const ready = async (): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${page.server.httpPort}/ready`)
    return { status: response.status, body: await response.json() }
  }
  try {
    for (const each of makeRun().requests) expect(await post(page.server.httpPort, each)).toBe(200)
    const list = () => page.get<{ runs: unknown[] }>('/api/runs')
    await eventually(list, ({ runs }) => runs.length === 1)
    await expect(page.get('/api/scorers')).rejects.toThrow('fetch failed')
    const trouble = /^The page ended because of an error \(ERR_WORKER_OUT_OF_MEMORY\), and is started again/
    expect(await eventually(ready, (answer) => JSON.stringify(answer).includes('page'))).toMatchObject({
      status: 200,
      body: { status: 'ready', page: expect.stringMatching(trouble) },
    })
    expect(lines).toContainEqual(expect.stringMatching(trouble))
    expect(await post(page.server.httpPort, makeRun().requests[0])).toBe(200)
    // The same address and token, and the runs that were stored.
    const again = await eventually(
      () => list().catch(() => ({ runs: [] })),
      ({ runs }) => runs.length === 1,
      30_000,
    )
    expect(again.runs).toHaveLength(1)
    expect(await ready()).toEqual({ status: 200, body: { status: 'ready', version: expect.any(String) } })
  } finally {
    await page.server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}, 60_000)

it('a page that is started again still says which judges are not asked', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-ended-'))
  const configPath = join(folder, 'spanscore.config.mjs')
  // In the page's thread, this ends the thread.
  writeFileSync(configPath, 'process.exit(1)')
  const options = { host: '127.0.0.1', port: 0, allowedHosts: [], retention: { maxAgeMs: 1e12, maxBytes: 1e12 } }
  const limits = { maxSpansPerRequest: 1000, maxSpanBytes: 1_000_000 }
  const token = 'a'.repeat(32)
  const lines: string[] = []
  const page = await Page.start(
    { options, folder, limits, configPath, configText: undefined },
    { tokens: [token], path: '', isNew: false },
    (line) => lines.push(line),
    () => undefined,
  )
  const get = async (path: string): Promise<{ readonly judges?: readonly string[] }> => {
    const response = await fetch(new URL(path, page.url), { headers: { authorization: `Bearer ${token}` } })
    return (await response.json()) as { readonly judges?: readonly string[] }
  }
  const judges = () =>
    get('/api/overview').then(
      (overview) => overview.judges ?? [],
      () => [],
    )
  try {
    page.namesJudgesBy(() => ['faithfulness: its server refuses the key'])
    await eventually(judges, ({ length }) => length === 1)
    await expect(get('/api/scorers')).rejects.toThrow('fetch failed')
    await eventually(judges, ({ length }) => length === 1, 30_000)
    expect(lines).toContainEqual(expect.stringContaining('is started again'))
  } finally {
    await page.stop(5000)
    rmSync(folder, { recursive: true, force: true })
  }
}, 60_000)
