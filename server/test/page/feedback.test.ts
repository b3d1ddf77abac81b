/** Feedback of users and evaluations by other tools, in a service with a destination and a page. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { FeedbackIntake } from '../../src/feedback.ts'
import { createSink } from '../sink.ts'
import type { Sink } from '../sink.ts'
import { makeRun, post, toRequest } from '../traces.ts'
import { eventually, startWithPage } from './page-client.ts'
import type { PageUnderTest } from './page-client.ts'

interface Details {
  readonly isOpen: boolean
  readonly said: readonly {
    readonly scorerId: string
    readonly value?: number
    readonly label?: string
    readonly explanation?: string
    readonly evaluatorType?: string
  }[]
}

let folder: string
let sink: Sink
let page: PageUnderTest
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-feedback-'))
  sink = await createSink()
  page = await startWithPage(folder, { to: { url: sink.url, headers: {}, timeoutMs: 5000 } })
})
beforeEach(() => {
  sink.status = 200
  sink.logs.length = 0
})
afterAll(async () => {
  await page.server.stop()
  await sink[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

async function say(given: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`http://127.0.0.1:${page.server.httpPort}/v1/feedback`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(given),
  })
  return { status: response.status, body: (await response.json()) as { readonly message?: string } }
}

const attribute = (key: string, value: string) => ({ key, value: { stringValue: value } })

const details = (runId: string) => page.get<Details>(`/api/run?id=${encodeURIComponent(runId)}`)

async function scoredRun(around: readonly unknown[] = [], traceId?: string): Promise<string> {
  const run = makeRun(traceId === undefined ? {} : { traceId })
  await post(page.server.httpPort, toRequest([...run.spans, ...around]))
  const runId = `${run.traceId}:${run.agentSpanId}`
  await eventually(
    () => page.get<{ runs: { id: string }[] }>('/api/runs'),
    ({ runs }) => runs.some(({ id }) => id === runId),
  )
  return runId
}

const said = () =>
  sink.logs
    .filter(({ attributes }) => attributes['gen_ai.evaluation.evaluator.type'] === 'user')
    .map(({ eventName, traceId, spanId, attributes }) => ({ eventName, runId: `${traceId}:${spanId}`, attributes }))

describe('POST /v1/feedback', () => {
  it('is answered when the destination has the event, and shows on the page of the run', async () => {
    const runId = await scoredRun()
    const given = { runId, name: 'thumbs', value: false, comment: 'wrong city', userId: 'ann' }
    expect(await say(given)).toEqual({ status: 200, body: {} })
    expect(said()).toEqual([
      {
        eventName: 'gen_ai.evaluation.result',
        runId,
        attributes: {
          'gen_ai.evaluation.name': 'thumbs',
          'gen_ai.evaluation.score.value': 0,
          'gen_ai.evaluation.score.label': 'fail',
          'gen_ai.evaluation.explanation': 'wrong city',
          'gen_ai.evaluation.evaluator.type': 'user',
          'user.id': 'ann',
          'spanscore.score.key': expect.stringMatching(/^[0-9a-f]{32}$/),
        },
      },
    ])
    const { said: shown } = await eventually(
      () => details(runId),
      (found) => found.said.length > 0,
    )
    expect(shown).toEqual([
      {
        runId,
        scorerId: 'thumbs',
        value: 0,
        label: 'fail',
        explanation: 'wrong city',
        evaluatorType: 'user',
      },
    ])
  })

  it('is found by its words, counted among the scored runs, and in a case that is made of the run', async () => {
    const runId = await scoredRun()
    await scoredRun()
    await say({ runId, name: 'thumbs', value: false, comment: 'Forgot the Umbrella' })
    const found = await eventually(
      () => page.get<{ runs: { id: string }[] }>('/api/runs?text=umbrella+forgot'),
      ({ runs }) => runs.length > 0,
    )
    expect(found.runs.map(({ id }) => id)).toEqual([runId])
    const { opinions, all } = await page.get<{ opinions: unknown; all: { runs: number } }>(
      '/api/scores?scorer=answer_present&text=umbrella',
    )
    expect({ opinions, runs: all.runs }).toEqual({ opinions: { given: 1, disliked: 1, passing: 1 }, runs: 1 })
    expect(await page.get(`/api/case?id=${encodeURIComponent(runId)}`)).toMatchObject({
      runId,
      expected: { answer: null, mentions: null, trajectory: null },
      wrong: [{ scorer: 'thumbs', label: 'fail', explanation: 'Forgot the Umbrella' }],
    })
  })

  it('of the span of a tool is shown at that call', async () => {
    const run = makeRun()
    await post(page.server.httpPort, toRequest(run.spans))
    const runId = `${run.traceId}:${run.agentSpanId}`
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- spans of `makeRun`
    const spans = run.spans as readonly { readonly spanId: string; readonly name: string }[]
    const tool = spans.find(({ name }) => name.startsWith('execute_tool'))
    await say({ runId: `${run.traceId}:${tool?.spanId}`, name: 'thumbs', value: false, comment: 'wrong city' })
    const found = await eventually(
      () => details(runId).catch((): Details => ({ isOpen: true, said: [] })),
      ({ isOpen, said: shown }) => !isOpen && shown.length > 0,
    )
    expect(found.said).toMatchObject([{ runId, toolCall: 0, scorerId: 'thumbs', explanation: 'wrong city' }])
  })

  it('writes the same feedback once, and changed feedback with the same key', async () => {
    const runId = await scoredRun()
    const given = { runId, name: 'thumbs', value: false, key: 'click 1' }
    await Promise.all([say(given), say({ ...given, key: 'click 2' })])
    await say(given)
    await say({ ...given, value: true })
    const keys = said().map(({ attributes }) => attributes['spanscore.score.key'])
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(2)
    const { said: shown } = await eventually(
      () => details(runId),
      (found) => found.said.length === 2 && found.said.some(({ value }) => value === 1),
    )
    expect(shown.map(({ value }) => value).toSorted()).toEqual([0, 1])
  })

  it('is not answered before the destination has acknowledged the event', async () => {
    const runId = await scoredRun()
    sink.status = 503
    const answer = say({ runId, name: 'thumbs', value: true })
    const { scoreRequests } = sink
    await eventually(
      () => Promise.resolve(sink.scoreRequests),
      (count) => count > scoreRequests + 1,
    )
    expect(said()).toEqual([])
    sink.status = 200
    expect((await answer).status).toBe(200)
    expect(said()).toHaveLength(1)
  })

  it('is refused if the destination acknowledges nothing in time', async () => {
    const intake = new FeedbackIntake({
      outbox: { isFull: false, add: () => undefined },
      rules: () => ({ explanations: 'all', stripContent: false }),
      show: () => expect.unreachable(),
      nowMs: () => 0,
      timeoutMs: 5,
    })
    const given = { runId: `${'a'.repeat(32)}:${'b'.repeat(16)}`, name: 'thumbs', value: true }
    await expect(intake.take(given)).rejects.toMatchObject({ status: 503 })
    expect([...intake.counts]).toEqual([])
  })

  it.each([
    [
      'no value',
      { runId: `${'a'.repeat(32)}:${'b'.repeat(16)}`, name: 'thumbs' },
      {},
      400,
      /feedback\.value: expected a number/,
    ],
    ['no ids', { name: 'thumbs', value: 1 }, {}, 400, /expected both, as 32 and 16/],
    ['another form', [], {}, 400, /feedback: expected an object/],
    [
      'an unknown property',
      { name: 'thumbs', value: 1, text: 'x' },
      {},
      400,
      /expected one of traceId, .*, userId, key, got/,
    ],
    ['a browser', { name: 'thumbs', value: 1 }, { origin: 'https://example.com' }, 403, /a web page made/],
    ['another encoding', {}, { 'content-type': 'application/x-protobuf' }, 415, undefined],
  ])('refuses %s', async (_what, given, headers: Record<string, string>, status, message) => {
    const response = await fetch(`http://127.0.0.1:${page.server.httpPort}/v1/feedback`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(given),
    })
    expect(response.status).toBe(status)
    expect(await response.text()).toMatch(message ?? /./)
  })
})

describe('evaluations by other tools', () => {
  it('show on the page of the run that they are of, also days later, or of the only run of their trace', async () => {
    const traceId = 'c'.repeat(32)
    const runId = await scoredRun([], traceId)
    const logRecord = (spanId: string, name: string) => ({
      traceId,
      spanId,
      eventName: 'gen_ai.evaluation.result',
      timeUnixNano: '1700000000000000000',
      attributes: [attribute('gen_ai.evaluation.name', name), attribute('gen_ai.evaluation.score.label', 'good')],
    })
    const records = [logRecord(runId.split(':')[1]!, 'Helpfulness'), logRecord('', 'Tone')]
    const request = { resourceLogs: [{ scopeLogs: [{ scope: { name: 'other' }, logRecords: records }] }] }
    expect(await post(page.server.httpPort, request, '/v1/logs')).toBe(200)
    const { said: shown } = await eventually(
      () => details(runId),
      (found) => found.said.length > 1,
    )
    expect(shown).toEqual([
      { runId, scorerId: 'Helpfulness', label: 'good' },
      { runId, scorerId: 'Tone', label: 'good' },
    ])
  })

  it('show from spans of evaluators', async () => {
    const run = makeRun({})
    const evaluator = {
      traceId: run.traceId,
      spanId: 'e'.repeat(16),
      parentSpanId: run.agentSpanId,
      name: 'evaluate',
      kind: 1,
      startTimeUnixNano: '1700000000000000000',
      endTimeUnixNano: '1700000000000000000',
      attributes: [
        { key: 'gen_ai.evaluation.name', value: { stringValue: 'Correctness' } },
        { key: 'gen_ai.evaluation.score.value', value: { doubleValue: 0.75 } },
      ],
    }
    await post(page.server.httpPort, toRequest([...run.spans, evaluator]))
    const runId = `${run.traceId}:${run.agentSpanId}`
    const { said: shown } = await eventually(
      () => details(runId).catch((): Details => ({ isOpen: true, said: [] })),
      (found) => !found.isOpen && found.said.length > 0,
    )
    expect(shown).toEqual([{ runId, scorerId: 'Correctness', value: 0.75 }])
  })
})

it('is in the files that the page exports', async () => {
  const runId = await scoredRun()
  await say({ runId, name: 'stars', value: 2 })
  await eventually(
    () => details(runId),
    (found) => found.said.length > 0,
  )
  const { runs } = await page.get<{ runs: { id: string; scores: { scorer: string }[] }[] }>('/api/runs')
  const [first] = runs.find(({ id }) => id === runId)!.scores
  const response = await fetch(new URL(`/api/labels/runs?scorer=${first?.scorer}`, page.origin), {
    headers: { authorization: `Bearer ${page.token}` },
  })
  expect(await response.text()).toContain('"stringValue":"stars"')
})
