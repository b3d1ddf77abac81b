import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it } from 'vitest'

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
