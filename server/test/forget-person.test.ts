import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, it } from 'vitest'

import { LIMITS } from '../src/config/limits.ts'
import { forgetInFolder } from '../src/forget/forget-command.ts'
import { startServer } from '../src/start.ts'
import { eventually, startWithPage } from './page/page-client.ts'
import { serverOptions } from './server-options.ts'
import { makeRun, post, toRequest } from './traces.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-person-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each limit has a default
const limits = Object.fromEntries(
  Object.entries(LIMITS).map(([name, schema]) => [name, schema.parse(undefined)]),
) as Parameters<typeof forgetInFolder>[3]

/** A word that is nowhere else. */
const mark = (): string => randomBytes(12).toString('hex')

/** How many of the marks a file of the folder has. The beginning of a word may be shared with another one in the text index. */
function found(marks: readonly string[]): number {
  const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'latin1'))
  return marks.filter((each) => files.some((file) => file.includes(each.slice(4)))).length
}

interface Span {
  readonly name: string
  readonly attributes: readonly unknown[]
}

/** The spans of a run of a user, who says a word. */
function runOf(user: string, text: string) {
  const made = makeRun({ text: `My passport is ${text}.` })
  const ids = { 'user.id': user, 'gen_ai.conversation.id': `chat of ${user}` }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- spans of `makeRun`
  const spans = (made.spans as readonly Span[]).map((span) =>
    span.name.startsWith('invoke_agent')
      ? {
          ...span,
          attributes: [
            ...span.attributes,
            ...Object.entries(ids).map(([key, value]) => ({ key, value: { stringValue: value } })),
          ],
        }
      : span,
  )
  return { ...made, spans, runId: `${made.traceId}:${made.agentSpanId}` }
}

it.each(['user', 'conversation'])('a %s is deleted from the page and the log, and nobody else is', async (what) => {
  const page = await startWithPage(folder)
  const [ann, bob] = [
    [mark(), mark(), mark()],
    [mark(), mark(), mark()],
  ] as const
  const runs = [runOf('ann', ann[0]), runOf('bob', bob[0])]
  // Both are in one request.
  await post(page.server.httpPort, toRequest(runs.flatMap(({ spans }) => spans)))
  const list = () => page.get<{ runs: readonly { readonly id: string }[] }>('/api/runs')
  await eventually(list, (listed) => listed.runs.length === 2)
  const said = (runId: string | undefined, comment: string) =>
    post(page.server.httpPort, { runId, name: 'thumbs', value: false, comment }, '/v1/feedback')
  expect(await said(runs[0]?.runId, ann[1])).toBe(200)
  expect(await said(runs[1]?.runId, bob[1])).toBe(200)
  // These wait for the rest of their runs.
  const waiting = [runOf('ann', ann[2]), runOf('bob', bob[2])]
  const begun = waiting.flatMap(({ spans }) => spans.filter(({ name }) => name.startsWith('invoke_agent')))
  await post(page.server.httpPort, toRequest(begun))
  expect([found(ann), found(bob)]).toEqual([3, 3])

  const id = what === 'user' ? 'ann' : 'chat of ann'
  const query = `/api/forget?${what}=${encodeURIComponent(id)}`
  expect(await page.get(query)).toEqual({ traces: 2, runs: 1 })
  const ask = (headers: Record<string, string>) => fetch(`${page.origin}${query}`, { method: 'DELETE', headers })
  expect((await ask({})).status).toBe(401)
  const answer = await ask({ authorization: `Bearer ${page.token}` })
  expect(await answer.json()).toEqual({ traces: 2, runs: 1 })
  expect(found(ann)).toBe(0)
  expect((await list()).runs.map((run) => run.id)).toContain(runs[1]?.runId)
  expect((await list()).runs.map((run) => run.id)).not.toContain(runs[0]?.runId)
  await page.server.stop()
  expect([found(ann), found(bob)]).toEqual([0, 3])
})

it('a trace is deleted with what was said of it, and with log records that wait for their spans', async () => {
  const page = await startWithPage(folder)
  const [gone, kept] = [[mark(), mark(), mark()] as const, [mark()]]
  const [run, other] = [runOf('ann', gone[0]), runOf('bob', kept[0] ?? '')]
  await post(page.server.httpPort, toRequest([...run.spans, ...other.spans]))
  await eventually(
    () => page.get<{ runs: readonly unknown[] }>('/api/runs'),
    (listed) => listed.runs.length === 2,
  )
  const feedback = { runId: run.runId, name: 'thumbs', value: false, comment: gone[1] }
  expect(await post(page.server.httpPort, feedback, '/v1/feedback')).toBe(200)
  const record = {
    traceId: run.traceId,
    spanId: 'ab'.repeat(8),
    eventName: 'gen_ai.user.message',
    body: { stringValue: gone[2] },
  }
  const logs = { resourceLogs: [{ scopeLogs: [{ scope: { name: 'x' }, logRecords: [record] }] }] }
  expect(await post(page.server.httpPort, logs, '/v1/logs')).toBe(200)
  expect([found(gone), found(kept)]).toEqual([3, 1])
  const answer = await fetch(`${page.origin}/api/forget?trace=${run.traceId}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${page.token}` },
  })
  expect(await answer.json()).toEqual({ traces: 1, runs: 1 })
  expect([found(gone), found(kept)]).toEqual([0, 1])
  await page.server.stop()
  expect([found(gone), found(kept)]).toEqual([0, 1])
})

it('a command forgets somebody while a service uses the folder, and while none does', async () => {
  const options = serverOptions('http://127.0.0.1:1', { dataFolder: folder })
  const server = await startServer({ ...options, traces: { ...options.traces, settleMs: 600_000 } })
  const [ann, bob] = [[mark()], [mark()]] as const
  await post(server.httpPort, toRequest([...runOf('ann', ann[0]).spans, ...runOf('bob', bob[0]).spans]))
  expect(await forgetInFolder(folder, { user: 'ann' }, true, limits)).toEqual({ traces: 1, runs: 0 })
  expect(found(ann)).toBe(1)
  await forgetInFolder(folder, { user: 'ann' }, false, limits)
  expect([found(ann), found(bob)]).toEqual([0, 1])
  await server.stop()
  expect([found(ann), found(bob)]).toEqual([0, 1])
  expect(await forgetInFolder(folder, { user: 'bob' }, false, limits)).toEqual({ traces: 1, runs: 0 })
  expect(found(bob)).toBe(0)
})
