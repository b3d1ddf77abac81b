import { request } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'

import { describe, expect, it } from 'vitest'

import type { ListedRun } from '../../src/page/store/run-list.ts'
import { startServer } from '../../src/start.ts'
import { serverOptions } from '../server-options.ts'
import { makeRun, post } from '../traces.ts'
import { eventually, startWithPage, usePage } from './page-client.ts'

/** Sends a request with any Host header, which `fetch` does not allow. */
function statusOf(origin: string, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: new URL(origin).port, path, headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.once('error', reject)
    sent.end()
  })
}

interface RunAnswer {
  readonly scores: readonly { readonly evaluation: { readonly scorer: { readonly id: string } } }[]
  readonly withheld: readonly { readonly scorer: string }[]
}

interface List {
  readonly runs: readonly ListedRun[]
  readonly open: readonly { readonly traceId: string; readonly agent: string; readonly question: string }[]
}

describe('the API of the page', () => {
  const service = usePage()
  const list = (query = '') => service.page.get<List>(`/api/runs?${query}`)

  it('shows a run in progress after its first span, and its scores when it is settled', async () => {
    const run = makeRun({ toolFails: true })
    await post(service.page.server.httpPort, run.requests[0])
    const open = await eventually(list, ({ open: each }) => each.length === 1)
    expect(open.open[0]).toMatchObject({ traceId: run.traceId, question: 'Weather in Oslo?' })
    for (const rest of run.requests.slice(1)) await post(service.page.server.httpPort, rest)
    const done = await eventually(list, ({ runs }) => runs[0]?.scores.some(({ label }) => label === 'fail') === true)
    expect(done.open).toEqual([])
    expect(done.runs[0]).toMatchObject({
      id: `${run.traceId}:${run.agentSpanId}`,
      agent: 'weather-agent',
      question: 'Weather in Oslo?',
      answer: 'It rains.',
      failed_tool_calls: 1,
      revision: 3,
    })
  })

  it('finds runs by scorer, label, status, text and time', async () => {
    for (let index = 0; index < 3; index++) {
      for (const each of makeRun().requests) await post(service.page.server.httpPort, each)
    }
    await eventually(list, ({ runs }) => runs.length === 4 && runs.every(({ scores }) => scores.length > 2))
    const count = async (query: string) => (await list(query)).runs.length
    expect(await count('scorer=tool_errors&label=fail')).toBe(1)
    expect(await count('scorer=tool_errors&label=pass')).toBe(3)
    expect(await count('scorer=tool_errors&minScore=0.5')).toBe(3)
    expect(await count('text=oslo')).toBe(4)
    expect(await count('text=os')).toBe(4)
    expect(await count('text=%22%20OR')).toBe(0)
    expect(await count('agent=weather-agent')).toBe(4)
    expect(await count('agent=nobody')).toBe(0)
    expect(await count(`fromMs=${Date.now() + 1000}`)).toBe(0)
    expect(await count('status=error')).toBe(0)
    const worst = await list('scorer=tool_errors&sort=worst&limit=1')
    expect(worst.runs[0]?.failed_tool_calls).toBe(1)
  })

  it('returns consecutive pages without a gap', async () => {
    const seen: number[] = []
    for (let after = ''; ;) {
      const answer = await service.page.get<List & { next?: string }>(
        `/api/runs?limit=1${after === '' ? '' : `&after=${after}`}`,
      )
      seen.push(...answer.runs.map(({ seq }) => seq))
      if (answer.next === undefined) break
      after = answer.next
    }
    expect(seen).toEqual([4, 3, 2, 1])
  })

  it('returns a run with its conversation, scores and spans', async () => {
    const { runs } = await list('scorer=tool_errors&label=fail')
    const answer = await service.page.get<{
      run: { toolCalls: unknown[] }
      scores: { evaluation: { scorer: { id: string } } }[]
      spans: unknown[]
    }>(`/api/run?id=${runs[0]!.id}`)
    expect(answer.run.toolCalls).toMatchObject([{ name: 'weather', arguments: { city: 'Oslo' }, status: 'error' }])
    expect(answer.spans).toHaveLength(3)
    expect(answer.scores.map(({ evaluation }) => evaluation.scorer.id)).toContain('tool_errors')
  })

  it('computes the same sums of scores as alerts do', async () => {
    const answer = await service.page.get<{
      all: { runs: number; mean: { mean: number; n: number }; failing: { mean: number } }
    }>('/api/scores?scorer=tool_errors')
    expect(answer.all).toMatchObject({ runs: 4, mean: { mean: 0.75 }, failing: { mean: 0.25 } })
  })

  it('scores runs again with a configured scorer', async () => {
    const { runs } = await list('scorer=tool_errors&label=fail')
    const runIds = [runs[0]!.id]
    expect(await service.page.post('/api/trials/estimate', { scorer: 'tool_errors', runIds })).toMatchObject({
      runs: 1,
      calls: 0,
    })
    expect(await service.page.post('/api/trials', { scorer: 'tool_errors', runIds })).toMatchObject({
      evaluation: { score: { status: 'scored', label: 'fail' } },
    })
  })

  it('draws runs, takes labels, and writes a file that calibration reads', async () => {
    const { runs } = await list()
    const failing = runs.flatMap(({ scores }) => scores).find(({ scorer }) => scorer === 'tool_errors')
    expect(failing).toBeDefined()
    const { scorers } = await service.page.get<{ scorers: { scorer: string; version: string }[] }>('/api/overview')
    const { version } = scorers.find(({ scorer }) => scorer === 'tool_errors')!
    expect(await service.page.post('/api/labels/draw', { scorer: 'tool_errors', version, count: 2 })).toEqual({
      drawn: 2,
    })
    const query = `scorer=tool_errors&version=${version}&labeller=ada`
    const { waiting } = await service.page.get<{ waiting: { runId: string }[] }>(`/api/labels?${query}`)
    expect(JSON.stringify(waiting)).not.toContain('fail')
    const verdictOf = async (runId: string, labeller: string) => {
      const listed = await list(`labeller=${labeller}`)
      const mark = listed.runs.find(({ id }) => id === runId)!.scores.find(({ scorer }) => scorer === 'tool_errors')!
      const shown = await service.page.get<RunAnswer>(`/api/run?id=${runId}&labeller=${labeller}`)
      return {
        mark: `${mark.status} ${mark.label}`,
        isShown: shown.scores.some(({ evaluation }) => evaluation.scorer.id === 'tool_errors'),
        withheld: shown.withheld.map(({ scorer }) => scorer),
      }
    }
    const label = { scorer: 'tool_errors', version, labeller: 'ada', label: 'pass', note: 'fine' }
    const first = waiting[0]!.runId
    const hidden = { mark: 'withheld null', isShown: false, withheld: ['tool_errors'] }
    const shown = { mark: expect.stringMatching('scored') as string, isShown: true, withheld: [] }
    expect(await verdictOf(first, 'ada')).toEqual(hidden)
    expect(await verdictOf(first, '')).toEqual(hidden)
    await service.page.post('/api/labels', { ...label, runId: first })
    expect(await verdictOf(first, 'ada')).toEqual(shown)
    expect(await verdictOf(first, 'bob')).toEqual(hidden)
    expect(await verdictOf(first, '')).toEqual(shown)
    const others = await service.page.get<{ labelled: unknown[] }>(`/api/labels?${query.replace('ada', 'bob')}`)
    expect(others.labelled).toEqual([])
    for (const { runId } of waiting) await service.page.post('/api/labels', { ...label, runId })
    const undrawn = runs.find(({ id }) => !waiting.some(({ runId }) => runId === id))!
    await service.page.post('/api/labels', { ...label, runId: undrawn.id })
    const response = await fetch(`${service.page.origin}/api/labels/export?scorer=tool_errors`, {
      headers: { authorization: `Bearer ${service.page.token}` },
    })
    const lines = (await response.text()).trim().split('\n')
    const exported = lines.map((line) => JSON.parse(line) as { runId: string; drawProbability: number })
    expect(new Set(exported.map(({ runId }) => runId))).toEqual(new Set(waiting.map(({ runId }) => runId)))
    expect(Math.min(...exported.map(({ drawProbability }) => drawProbability))).toBeCloseTo(1 / 3)
    expect(Math.max(...exported.map(({ drawProbability }) => drawProbability))).toBe(1)
    expect(await service.page.post('/api/labels/import', { lines: lines.join('\n') })).toEqual({ imported: 2 })
    await expect(service.page.post('/api/labels/import', { lines: '{}' })).rejects.toThrow('Line 1')
    const { agreement } = await service.page.get<{ agreement: unknown }>(`/api/labels?${query}`)
    expect(agreement).toMatchObject({ bothPass: 1, falseAlarms: 1, missed: 0 })
  })

  it('reveals a withheld verdict on request, and takes the run out of the draw', async () => {
    const { scorers } = await service.page.get<{ scorers: { scorer: string; version: string }[] }>('/api/overview')
    const { version } = scorers.find(({ scorer }) => scorer === 'tool_errors')!
    const score = { scorer: 'tool_errors', version }
    expect(await service.page.post('/api/labels/draw', { ...score, count: 2 })).toEqual({ drawn: 2 })
    const state = () =>
      service.page.get<{ waiting: { runId: string }[]; progress: { drawn: number } }>(
        `/api/labels?scorer=tool_errors&version=${version}&labeller=ada`,
      )
    const [drawn] = (await state()).waiting
    const before = (await state()).progress.drawn
    await service.page.post('/api/labels/reveal', { ...score, runId: drawn!.runId })
    expect(await state()).toMatchObject({ waiting: [], progress: { drawn: before - 1 } })
    const { withheld } = await service.page.get<RunAnswer>(`/api/run?id=${drawn!.runId}`)
    expect(withheld).toEqual([])
    await service.page.post('/api/labels', { ...score, runId: drawn!.runId, labeller: 'ada', label: 'fail', note: '' })
    const response = await fetch(`${service.page.origin}/api/labels/export?scorer=tool_errors`, {
      headers: { authorization: `Bearer ${service.page.token}` },
    })
    expect(await response.text()).not.toContain(drawn!.runId)
  })

  it('keeps runs and token across a restart', async () => {
    const { token } = service.page
    await service.restart()
    expect(service.page.token).toBe(token)
    expect((await list()).runs).toHaveLength(4)
  })

  it('answers another number of changes once a span has arrived', async () => {
    const changes = () => service.page.get<{ changes: number; isStuck: boolean }>('/api/changes')
    const before = await changes()
    expect(before.isStuck).toBe(false)
    expect((await changes()).changes).toBe(before.changes)
    await post(service.page.server.httpPort, makeRun().requests[0])
    await eventually(changes, (now) => now.changes !== before.changes)
  })

  describe('keeps out', () => {
    it('callers without the token', async () => {
      expect(await statusOf(service.page.origin, '/api/overview', {})).toBe(401)
      expect(await statusOf(service.page.origin, '/api/overview', { authorization: 'Bearer wrong' })).toBe(401)
      expect(
        await statusOf(service.page.origin, '/api/overview', { authorization: `Bearer ${service.page.token}` }),
      ).toBe(200)
    })

    it('foreign host names that point at this machine', async () => {
      expect(
        await statusOf(service.page.origin, '/api/overview', {
          authorization: `Bearer ${service.page.token}`,
          host: 'attacker.example',
        }),
      ).toBe(403)
      expect(await statusOf(service.page.origin, '/', { host: 'attacker.example' })).toBe(403)
    })

    it('invalid requests, and continues', async () => {
      const authorization = `Bearer ${service.page.token}`
      for (const path of ['//', '///', '//%zz', 'http://[']) {
        expect(await statusOf(service.page.origin, path, {})).toBe(400)
      }
      for (const query of ['limit=1.5', 'minScore=Infinity', 'label=x', `labeller=${'x'.repeat(201)}`]) {
        expect(await statusOf(service.page.origin, `/api/runs?${query}`, { authorization })).toBe(400)
      }
      for (const text of ['a\0b', '"', '***', 'NEAR(a, b)', 'text:a', '^zz', '-', "'; DROP TABLE runs; --", '%_']) {
        expect([text, (await list(`text=${encodeURIComponent(text)}`)).runs.length]).toEqual([text, 0])
      }
      await expect(service.page.post('/api/labels/import', { lines: ' '.repeat(9 * 2 ** 20) })).rejects.toThrow(
        'at most 8388608 bytes',
      )
      await expect(service.page.post('/api/trials', { scorer: '__proto__', runIds: ['a'] })).rejects.toThrow(
        'no such configured scorer',
      )
      expect((await list('text=%00')).runs).toHaveLength(4)
    })

    it('requests for files that are not part of the page', async () => {
      for (const path of ['/../page.db', '/..%2fpage-token.txt', '/assets/../../package.json', '/example-run.json']) {
        const response = await fetch(`${service.page.origin}${path}`)
        const body = await response.text()
        expect({
          path,
          isPlace: response.status === 404 || body.includes('<div id="page">') || body.includes('<body'),
        }).toEqual({
          path,
          isPlace: true,
        })
      }
      const answer = await fetch(`${service.page.origin}/api/overview`, {
        headers: { authorization: `Bearer ${service.page.token}` },
      })
      expect(answer.headers.get('cache-control')).toBe('no-store')
    })

    it('requests of other pages', async () => {
      expect(
        await statusOf(service.page.origin, '/api/overview', {
          authorization: `Bearer ${service.page.token}`,
          origin: 'http://attacker.example',
        }),
      ).toBe(403)
      expect(
        await statusOf(service.page.origin, '/api/overview', {
          authorization: `Bearer ${service.page.token}`,
          origin: 'http://127.0.0.1:1',
        }),
      ).toBe(403)
      expect(
        await statusOf(service.page.origin, '/api/overview', {
          authorization: `Bearer ${service.page.token}`,
          'sec-fetch-site': 'cross-site',
        }),
      ).toBe(403)
      expect(
        await statusOf(service.page.origin, '/api/overview', {
          authorization: `Bearer ${service.page.token}`,
          'sec-fetch-site': 'same-site',
        }),
      ).toBe(403)
      expect(
        await statusOf(service.page.origin, '/api/overview', {
          authorization: `Bearer ${service.page.token}`,
          origin: service.page.origin,
        }),
      ).toBe(200)
    })
  })

  it('reports that the receiving thread is stuck, and reports when it continues', { timeout: 60_000 }, async () => {
    const { origin, token } = service.page
    const seen = new Int32Array(new SharedArrayBuffer(4))
    // The page answers in its own thread. Nothing runs in this one until another thread has seen that.
    const observer = new Worker(
      `const { workerData: { origin, token, seen } } = require('node:worker_threads')
       const look = async () => {
         const response = await fetch(origin + '/api/changes', { headers: { authorization: 'Bearer ' + token } })
         const { isStuck } = await response.json()
         if (!isStuck) return setTimeout(look, 200)
         Atomics.store(seen, 0, 1)
         Atomics.notify(seen, 0)
       }
       look()`,
      { eval: true, workerData: { origin, token, seen } },
    )
    Atomics.wait(seen, 0, 0, 40_000)
    await observer.terminate()
    expect(seen[0]).toBe(1)
    // Connections that were open may have ended meanwhile.
    const changes = () => service.page.get<{ isStuck: boolean }>('/api/changes').catch(() => ({ isStuck: true }))
    await eventually(changes, ({ isStuck }) => !isStuck)
  })
})

it('reports that its port is in use, and ends the service', async () => {
  const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'spanscore-page-')))
  const first = await startWithPage(folders[0]!)
  const port = Number(new URL(first.origin).port)
  const page = { host: '127.0.0.1', port, allowedHosts: [], retention: { maxAgeMs: 1, maxBytes: 1 } }
  await expect(startWithPage(folders[1]!, { page })).rejects.toThrow(
    `--page-port ${port}: expected a port that is free`,
  )
  await first.server.stop()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

it('needs a data folder', async () => {
  await expect(
    startServer({
      ...serverOptions('http://unused'),
      page: { host: '127.0.0.1', port: 0, allowedHosts: [], retention: { maxAgeMs: 1, maxBytes: 1 } },
    }),
  ).rejects.toThrow('expected a data folder')
})
