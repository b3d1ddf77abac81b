import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { chatRequests } from '../../../test/fixtures/chat.ts'
import type { ChatOptions } from '../../../test/fixtures/chat.ts'
import type { AgentRun } from '../../../src/model/agent-run.ts'
import type { Thread } from '../../src/page/conversation-page.ts'
import type { ServiceOverview } from '../../src/page/answers.ts'
import type { ConversationPage } from '../../src/page/store/conversation-list.ts'
import { serverOptions } from '../server-options.ts'
import { post } from '../traces.ts'
import { parcel, thanks } from './made-chats.ts'
import { eventually, startWithPage } from './page-client.ts'
import type { PageUnderTest } from './page-client.ts'

const folder = mkdtempSync(join(tmpdir(), 'spanscore-page-chats-'))
const root = join(import.meta.dirname, '../../..')
const config = join(folder, 'spanscore.config.ts')

const sinceMs = Date.now() - 60_000

const recent = (options: ChatOptions): ChatOptions => ({ startMs: sinceMs, everyMs: 1000, ...options })

let page: PageUnderTest
beforeAll(async () => {
  writeFileSync(
    config,
    `import * as prebuilt from '${root}/src/entries/main.ts'
import { createScriptedJudge } from '${root}/src/entries/testing.ts'
const reactions = { turn_2: 'moves_on', turn_3: { verdict: 'repeats', reasoning: 'asks again for the place' } }
const model = createScriptedJudge({ verdicts: reactions })
export default { scorers: [
  prebuilt.createToolErrorsScorer(),
  prebuilt.createAbandonedScorer(),
  prebuilt.createRepeatedQuestionScorer(),
  { scorer: prebuilt.createUserFrictionScorer({ model }), agent: 'clerk' },
] }`,
  )
  const { traces } = serverOptions('http://unused')
  page = await startWithPage(join(folder, 'data'), {
    configPath: config,
    idleMs: 600,
    traces: { ...traces, settleMs: 100 },
  })
})
afterAll(async () => {
  await page.server.stop()
  rmSync(folder, { recursive: true, force: true })
})

const send = async (requests: readonly unknown[]) => {
  for (const request of requests) expect(await post(page.server.httpPort, request)).toBe(200)
}
const list = (query = '') => page.get<ConversationPage>(`/api/conversations?${query}`)
const idsOf = ({ conversations }: ConversationPage) => conversations.map(({ id }) => id)
const isScored = ({ conversations }: ConversationPage) => conversations.every(({ scores }) => scores.length === 3)

describe('conversations on the page of a service', () => {
  it('are listed with the worst first, and each is shown with its runs and scores', async () => {
    await send(chatRequests(parcel, recent({ id: 'late', prefix: 'c1' })))
    await send(chatRequests(thanks, recent({ id: 'happy', prefix: 'c2' })))
    await send(
      chatRequests(
        [{ user: 'A title for it', answer: 'Parcel' }],
        recent({ id: 'late', agent: 'titles', prefix: 'c3', startMs: sinceMs + 500 }),
      ),
    )
    const all = await eventually(list, (answer) => answer.conversations.length === 2 && isScored(answer))
    expect(idsOf(all)).toEqual(['late', 'happy'])
    expect(all.conversations[0]).toMatchObject({
      service: 'shop',
      agent: 'clerk',
      turns: 4,
      question: 'Where is my parcel?',
      answer: 'I do not know.',
      status: 'ok',
    })
    expect(all.conversations[0]?.scores).toMatchObject([
      { scorer: 'abandoned', label: 'pass', value: 0 },
      { scorer: 'repeated_question', label: 'pass', value: 0 },
      { scorer: 'user_friction', label: 'fail', value: 0.5, position: 0.5 },
    ])
    const thread = await page.get<Thread>(`/api/conversation?key=${all.conversations[0]!.key}`)
    expect(thread).toMatchObject({ id: 'late', agents: ['clerk', 'titles'], complete: true, missing: [], revision: 4 })
    expect(thread.turns.map(({ user }) => user)).toEqual([
      'Where is my parcel?',
      'A title for it',
      'It is 4711.',
      'Yes, but where is it?',
    ])
    const [, , tracked] = thread.turns
    expect(tracked?.runs).toMatchObject([
      { agent: 'clerk', output: 'It is late.', calls: [{ name: 'track', status: 'error' }], moreCalls: 0 },
    ])
    expect(tracked?.runs[0]?.scores).toMatchObject([{ scorer: 'tool_errors', label: 'fail' }])
    // The scorer saw the turns of one agent alone, so that its third turn is the fourth of all.
    const friction = thread.scores.find(({ evaluation }) => evaluation.scorer.id === 'user_friction')
    expect(friction?.evaluation.score).toMatchObject({
      findings: [
        { verdict: 'moves_on', rating: 'good', places: [{ in: 'turn', index: 1 }] },
        {
          verdict: 'repeats',
          rating: 'bad',
          reason: 'asks again for the place',
          places: [{ in: 'turn', index: 2 }],
        },
      ],
    })
    expect(friction?.turns[2]).toBe(thread.turns[3]?.runs[0]?.id)
  })

  it('are filtered by agent, scorer, verdict and text, and come in pages', async () => {
    expect(idsOf(await list('scorer=user_friction&label=fail'))).toEqual(['late'])
    expect(idsOf(await list('scorer=abandoned&label=fail'))).toEqual([])
    expect(idsOf(await list('scorer=user_friction&sort=worst'))).toEqual(['late', 'happy'])
    expect(idsOf(await list('agent=clerk'))).toEqual(['late', 'happy'])
    expect(idsOf(await list('agent=titles'))).toEqual([])
    expect(idsOf(await list('text=open'))).toEqual(['happy'])
    expect(idsOf(await list('text=happ'))).toEqual(['happy'])
    for (const sort of ['worst', 'newest']) {
      const first = await list(`limit=1&sort=${sort}`)
      const second = await list(`limit=1&sort=${sort}&after=${encodeURIComponent(first.next!)}`)
      expect([...idsOf(first), ...idsOf(second)].toSorted()).toEqual(['happy', 'late'])
      expect(second.next).toBeUndefined()
    }
    expect(await page.get('/api/overview')).toMatchObject({ conversations: 2 })
  })

  it('are reached from each of their runs', async () => {
    const { conversations } = await list('text=open')
    const { runs } = await page.get<{ runs: { id: string }[] }>('/api/runs?text=open')
    const shown = await page.get(`/api/run?id=${encodeURIComponent(runs[0]!.id)}`)
    expect(shown).toMatchObject({ conversation: { key: conversations[0]?.key, turns: 2 } })
  })

  it('have means of their own, and are no runs to label, to try or to list', async () => {
    const overview = await page.get<{ scorers: { scorer: string; level: string }[] }>('/api/overview')
    expect(overview.scorers).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ scorer: 'tool_errors', level: 'run' }),
        expect.objectContaining({ scorer: 'user_friction', level: 'conversation' }),
      ]),
    )
    expect(await page.get('/api/scores?scorer=user_friction&by=agent')).toMatchObject({
      all: { runs: 2, mean: { mean: 0.75 }, failing: { mean: 0.5 } },
      series: [{ group: 'clerk' }],
    })
    expect(await page.get('/api/sides?scorer=user_friction')).toMatchObject({ time: [{ runs: 1 }, { runs: 1 }] })
    expect((await page.get<{ runs: unknown[] }>('/api/runs?scorer=user_friction')).runs).toEqual([])
    const { scorers } = await page.get<{ scorers: { id: string }[] }>('/api/scorers')
    expect(scorers.map(({ id }) => id)).toEqual(['tool_errors'])
    const version = overview.scorers[0]
    expect(version).toBeDefined()
    expect(await page.post('/api/labels/draw', { scorer: 'user_friction', version: 'any', count: 5 })).toEqual({
      drawn: 0,
    })
  })

  it('refuses what is no key, and answers nobody without the token', async () => {
    await expect(page.get('/api/conversation?key=nothing')).rejects.toThrow('404')
    await expect(page.get('/api/conversations?sort=best')).rejects.toThrow('400')
    await expect(page.get('/api/conversations?after=x')).rejects.toThrow('400')
    for (const path of ['/api/conversations', '/api/conversation?key=x'])
      expect((await fetch(page.origin + path)).status).toBe(401)
  })
})

it('the overview says how many conversations are over and wait for their scores', async () => {
  const hanging = join(folder, 'hanging.config.ts')
  writeFileSync(
    hanging,
    `import * as prebuilt from '${root}/src/entries/main.ts'
import { createScriptedJudge } from '${root}/src/entries/testing.ts'
const model = { ...createScriptedJudge({ verdicts: {} }), doGenerate: () => new Promise(() => {}) }
export default { scorers: [prebuilt.createUserFrictionScorer({ model })] }`,
  )
  const { traces } = serverOptions('http://unused')
  const waiting = await startWithPage(join(folder, 'waiting'), {
    configPath: hanging,
    idleMs: 600,
    traces: { ...traces, settleMs: 100 },
  })
  for (const request of chatRequests(parcel, recent({ id: 'waits' })))
    expect(await post(waiting.server.httpPort, request)).toBe(200)
  await eventually(
    () => waiting.get<ServiceOverview>('/api/overview'),
    ({ openConversations, waitingConversations }) => openConversations === 0 && waitingConversations === 1,
    30_000,
  )
  await waiting.server.stop(100)
})

it('a conversation and a user are known by the span of the request around each run, as it stands in the store', async () => {
  const { traces } = serverOptions('http://unused')
  const around = await startWithPage(join(folder, 'around'), {
    configPath: config,
    idleMs: 600,
    traces: { ...traces, settleMs: 100 },
  })
  for (const request of chatRequests(parcel, recent({})))
    expect(await post(around.server.httpPort, inside(request))).toBe(200)
  const { conversations } = await eventually(
    () => around.get<ConversationPage>('/api/conversations'),
    (answer) => answer.conversations.length === 1 && isScored(answer),
  )
  expect(conversations).toMatchObject([{ id: 'S-1', turns: 3 }])
  const { runs } = await around.get<{ runs: { id: string }[] }>('/api/runs?user=zed')
  expect(await around.get('/api/runs?text=zed')).toMatchObject({ runs })
  expect(runs).toHaveLength(3)
  const { run } = await around.get<{ run: AgentRun }>(`/api/run?id=${runs[0]!.id}`)
  expect(run).toMatchObject({ conversationId: 'S-1', userId: 'zed' })
  await around.server.stop()
})

interface Request {
  readonly resourceSpans: readonly [
    {
      readonly scopeSpans: readonly [
        { readonly spans: readonly { readonly parentSpanId?: string; readonly spanId: string }[] },
      ]
    },
  ]
}

/** The same request below the span of an HTTP server, which has the ids. */
function inside(request: unknown): unknown {
  const copy = structuredClone(request) as Request
  const [{ scopeSpans }] = copy.resourceSpans
  const [{ spans }] = scopeSpans
  const agent = spans.find(({ parentSpanId }) => parentSpanId === undefined)!
  const attributes = Object.entries({ 'session.id': 'S-1', 'user.id': 'zed' }).map(([key, stringValue]) => ({
    key,
    value: { stringValue },
  }))
  const spanId = 'f'.repeat(16)
  const server = { ...agent, name: 'POST /chat', kind: 2, spanId, attributes }
  return {
    resourceSpans: [
      {
        ...copy.resourceSpans[0],
        scopeSpans: [
          {
            ...scopeSpans[0],
            spans: [server, ...spans.map((span) => (span === agent ? { ...span, parentSpanId: spanId } : span))],
          },
        ],
      },
    ],
  }
}
