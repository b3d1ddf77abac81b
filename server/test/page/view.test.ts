import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { scoresAsOtlp } from 'spanscore/engine'
import type { AgentRun, Evaluation } from 'spanscore/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { libraryNames, loadLibrary } from '../../../test/corpus/load.ts'
import { readRuns, readStoredRuns } from '../../../src/otlp/read-runs.ts'
import { startView } from '../../src/page/view.ts'
import { makeRun, toRequest } from '../traces.ts'
import { madeScore } from './made-score.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-view-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function view(file: string) {
  const page = await startView({ runs: readStoredRuns(file), files: ['traces.jsonl'] })
  const { origin, hash } = new URL(page.url)
  const ask = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${hash.slice('#token='.length)}`)
    return fetch(origin + path, { ...init, headers })
  }
  return {
    origin,
    ask,
    get: async <Answer>(path: string) => (await (await ask(path)).json()) as Answer,
    [Symbol.asyncDispose]: () => page.stop(),
  }
}

function write(name: string, requests: readonly unknown[]): string {
  const file = join(folder, name)
  writeFileSync(file, requests.map((each) => `${JSON.stringify(each)}\n`).join(''))
  return file
}

const withChildren = (run: AgentRun): readonly AgentRun[] => [run, ...run.children.flatMap(withChildren)]

const START_MS = 1_700_000_000_000

/** `spanscore score` writes none, because it scores every run. */
function withoutProbability({ probability: _probability, ...rest }: Evaluation): Evaluation {
  return rest
}

/** The page of every library would take minutes. */
const EVERY = 24

describe('the page of files', () => {
  it('shows each run as it is read from the files, of recorded libraries', async () => {
    const differing: string[] = []
    let count = 0
    for (const library of libraryNames().filter((_name, index) => index % EVERY === 0)) {
      const file = write(
        `${library}.jsonl`,
        loadLibrary(library)
          .flatMap(({ traces, logs }) => [traces, logs ?? []])
          .flat(),
      )
      await using page = await view(file)
      for await (const run of readRuns(file)) {
        for (const one of withChildren(run)) {
          count += 1
          const shown = await page.ask(`/api/run.json?id=${encodeURIComponent(one.id)}`)
          if ((await shown.text()) !== JSON.stringify(one)) differing.push(`${library} ${one.id}`)
        }
      }
    }
    expect(differing).toEqual([])
    expect(count).toBeGreaterThan(50)
  })

  it('shows the scores of events with their means, and those of spans with their labels', async () => {
    const runs = [0, 1, 2].map(() => makeRun({}))
    const spans = runs.flatMap((run, index) =>
      run.spans.map((span) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- spans of `makeRun`
        const known = {
          ...(span as { readonly spanId: string; readonly attributes: readonly unknown[] }),
          startTimeUnixNano: `${START_MS + index}000000`,
          endTimeUnixNano: `${START_MS + 1000}000000`,
        }
        const label = { key: 'spanscore.cites_source.label', value: { stringValue: index === 0 ? 'fail' : 'pass' } }
        const value = { key: 'spanscore.cites_source.score', value: { doubleValue: index === 0 ? 0 : 1 } }
        return known.spanId === run.agentSpanId ? { ...known, attributes: [...known.attributes, label, value] } : known
      }),
    )
    const events = runs.map(({ traceId, agentSpanId: spanId }, index) =>
      scoresAsOtlp(
        { traceId, spanId, endTimeMs: Date.now(), resource: {} },
        [withoutProbability(madeScore(`${traceId}:${spanId}`, { value: index === 2 ? 0.2 : 1 }))],
        { explanations: 'all', nowMs: Date.now() },
      ),
    )
    await using page = await view(write('scored.jsonl', [toRequest(spans), ...events]))
    const { scorers, files } = await page.get<{ scorers: { scorer: string; better: string }[]; files: string[] }>(
      '/api/overview',
    )
    expect(scorers.map(({ scorer }) => scorer)).toEqual(['cites_source', 'judge'])
    expect(files).toEqual(['traces.jsonl'])
    const all = await page.get<{ all: { runs: number; failing: number } }>('/api/scores?scorer=judge')
    expect(all.all).toMatchObject({ runs: 3, failing: expect.closeTo(1 / 3), mean: { mean: expect.closeTo(2.2 / 3) } })
    expect(await page.get('/api/sides?scorer=judge')).toMatchObject({
      time: [{ value: 'earlier half' }, { value: 'later half' }],
    })
    const failing = await page.get<{ runs: { id: string; scores: unknown[] }[] }>(
      '/api/runs?scorer=cites_source&label=fail',
    )
    expect(failing.runs.map(({ id }) => id)).toEqual([`${runs[0]!.traceId}:${runs[0]!.agentSpanId}`])
    expect(failing.runs[0]?.scores).toMatchObject([
      { scorer: 'cites_source', value: 0, label: 'fail', position: null },
      { scorer: 'judge', value: 1, label: 'pass', position: 1 },
    ])
    const shown = await page.get(`/api/run?id=${encodeURIComponent(failing.runs[0]!.id)}`)
    expect(shown).toMatchObject({
      isOpen: false,
      scores: [
        { evaluation: { scorer: { id: 'cites_source' }, score: { value: 0, label: 'fail' } } },
        { evaluation: { scorer: { id: 'judge', kind: 'judge', better: 'higher' }, judge: { model: 'gpt-5-mini' } } },
      ],
    })
  })

  it('takes nothing in, and answers nobody without its token', async () => {
    await using page = await view(write('one.jsonl', [toRequest(makeRun({}).spans)]))
    const body = JSON.stringify({ scorer: 'judge', version: 'v1', count: 1 })
    for (const path of ['/api/labels', '/api/labels/draw', '/api/labels/import', '/api/example']) {
      const answer = await page.ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      expect({ path, status: answer.status }).toEqual({ path, status: 404 })
    }
    expect((await fetch(`${page.origin}/api/runs`)).status).toBe(401)
    expect((await fetch(page.origin)).status).toBe(200)
  })
})
