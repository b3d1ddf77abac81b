import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { scoresAsOtlp } from 'spanscore/engine'
import type { AgentRun, Evaluation } from 'spanscore/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { libraryNames, loadLibrary } from '../../../test/corpus/load.ts'
import { chatRequests } from '../../../test/fixtures/chat.ts'
import { runCommand } from '../../../test/fixtures/run-command.ts'
import { readRuns, readStoredRuns } from '../../../src/otlp/read-runs.ts'
import { findingsOf } from '../../page/src/parts/findings.ts'
import type { Thread } from '../../src/page/conversation-page.ts'
import type { ConversationPage } from '../../src/page/store/conversation-list.ts'
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
          endTimeUnixNano: `${START_MS + 1000 + index}000000`,
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
    const all = await page.get<{ all: { runs: number; failing: { mean: number } } }>('/api/scores?scorer=judge')
    expect(all.all).toMatchObject({
      runs: 3,
      failing: { mean: expect.closeTo(1 / 3) },
      mean: { mean: expect.closeTo(2.2 / 3) },
    })
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

  it('shows conversations with the scores of a file, at the messages that they concern', async () => {
    const turns = [
      { user: 'Where is my parcel?', answer: 'What is your order number?' },
      { user: 'It is 4711.', answer: 'It is late.', tools: [{ name: 'track', fails: true }, { name: 'tell' }] },
      { user: 'Yes, but where is it?', answer: 'I do not know.' },
    ]
    const requests = chatRequests(turns, { id: 'late' })
    const traces = write('chats.jsonl', [
      ...requests,
      ...chatRequests([{ user: 'Hi', answer: 'Hello.' }], { prefix: 'd0' }),
    ])
    const config = join(folder, 'chats.config.ts')
    const root = join(import.meta.dirname, '../../..')
    writeFileSync(
      config,
      `import * as prebuilt from '${root}/src/entries/main.ts'
import { createScriptedJudge } from '${root}/src/entries/testing.ts'
const model = createScriptedJudge({ verdicts: { turn_2: 'moves_on', turn_3: { verdict: 'repeats', reasoning: 'asks again' } } })
const works = prebuilt.createScorer({ id: 'works', description: 'It works.', level: 'tool-call' })
  .generateScore(({ call }) => Number(call.status === 'ok'))
export default { scorers: [works, prebuilt.createAbandonedScorer(), prebuilt.createUserFrictionScorer({ model })] }`,
    )
    const out = join(folder, 'chat-scores.jsonl')
    const { stderr } = await runCommand(['score', traces, '--config', config, '--out', out])
    expect(stderr).toBe('')
    const both = join(folder, 'both.jsonl')
    writeFileSync(both, readFileSync(traces, 'utf8') + readFileSync(out, 'utf8'))
    await using page = await view(both)
    expect(await page.get('/api/overview')).toMatchObject({ runs: 4, conversations: 1 })
    const { conversations } = await page.get<ConversationPage>('/api/conversations')
    expect(conversations).toMatchObject([
      {
        id: 'late',
        turns: 3,
        scores: [
          { scorer: 'abandoned', label: 'pass' },
          { scorer: 'user_friction', label: 'fail', value: 0.5 },
        ],
      },
    ])
    const thread = await page.get<Thread>(`/api/conversation?key=${conversations[0]!.key}`)
    const friction = thread.scores.find(({ evaluation }) => evaluation.scorer.id === 'user_friction')
    expect(friction?.turns).toEqual(thread.turns.map(({ runs }) => runs[0]?.id))
    expect(findingsOf(friction!.evaluation)).toMatchObject([
      { verdict: 'moves_on', rating: 'good', places: [{ in: 'turn', index: 1 }] },
      { verdict: 'repeats', reason: 'asks again', places: [{ in: 'turn', index: 2 }] },
    ])
    const tracked = thread.turns[1]?.runs[0]
    expect(tracked?.scores).toMatchObject([{ scorer: 'works', label: 'fail', value: 0.5 }])
    const run = await page.get<{ scores: { evaluation: unknown }[]; conversation: unknown }>(
      `/api/run?id=${encodeURIComponent(tracked!.id)}`,
    )
    expect(run.conversation).toEqual({ key: conversations[0]?.key, turns: 3 })
    expect(run.scores).toMatchObject([
      {
        evaluation: {
          scorer: { id: 'works', level: 'tool-call' },
          calls: [
            { index: 0, name: 'track', score: { value: 0, label: 'fail' } },
            { index: 1, name: 'tell', score: { value: 1, label: 'pass' } },
          ],
        },
      },
    ])
    // Without the first run, the turns are others than the scorer counted.
    const [, ...later] = requests
    const cut = join(folder, 'cut.jsonl')
    writeFileSync(cut, later.map((each) => `${JSON.stringify(each)}\n`).join('') + readFileSync(out, 'utf8'))
    await using cutPage = await view(cut)
    const [found] = (await cutPage.get<ConversationPage>('/api/conversations')).conversations
    const shown = await cutPage.get<Thread>(`/api/conversation?key=${found!.key}`)
    expect(shown.scores.map(({ turns: placed }) => placed)).toEqual([[], []])
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
