import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { TracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace'
import { createAnswerPresentScorer, ScoringSpanProcessor } from 'spanscore'
import { describe, expect, it } from 'vitest'

import { makeRun, post, toRequest } from '../traces.ts'
import { saveScore } from '../../src/page/store/run-writer.ts'
import { first as firstRow, openTemporaryDatabase } from '../../src/page/store/page-database.ts'
import type { ShownEvaluation } from '../../src/page/shown-evaluation.ts'
import { madeScore, storeScoredRun } from './made-score.ts'
import { eventually, usePage } from './page-client.ts'

const service = usePage()

interface Score {
  readonly scorer: string
  readonly status: string
  readonly value: number | null
  readonly label: string | null
}

const text = (role: string, content: string) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])

it('shows the score that the application wrote on the span, where the service has the same scorer', async () => {
  const { page } = service
  const exporter = new OTLPTraceExporter({ url: `http://127.0.0.1:${page.server.httpPort}/v1/traces` })
  const scoring = new ScoringSpanProcessor({
    scorers: [createAnswerPresentScorer()],
    next: new BatchSpanProcessor({ exporter }),
  })
  const provider = new TracerProvider({ spanProcessors: [scoring] })
  provider
    .getTracer('my-agents')
    .startSpan('invoke_agent clerk', {
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'clerk',
        'gen_ai.input.messages': text('user', 'Where is A-1?'),
        'gen_ai.output.messages': text('assistant', 'It is in Oslo.'),
      },
    })
    .end()
  await provider.shutdown()

  const { runs } = await eventually(
    () => page.get<{ runs: { id: string; scores: readonly Score[] }[] }>('/api/runs'),
    (list) => (list.runs[0]?.scores.length ?? 0) > 0,
  )
  expect(runs[0]?.scores).toContainEqual(
    expect.objectContaining({ scorer: 'answer_present', status: 'scored', value: 1, label: 'pass' }),
  )
  const run = await page.get<{ scores: readonly { evaluation: unknown }[] }>(`/api/run?id=${runs[0]!.id}`)
  expect(JSON.stringify(run)).not.toContain('already-scored')
})

const attribute = (key: string, value: string | number) => ({
  key,
  value: typeof value === 'string' ? { stringValue: value } : { doubleValue: value },
})
const send = async (scores: Readonly<Record<string, string | number>>, change: Parameters<typeof makeRun>[0] = {}) => {
  const run = makeRun(change)
  const spans = run.spans.map((span) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- spans of `makeRun`
    const known = span as { readonly spanId: string; readonly attributes: readonly unknown[] }
    const added = Object.entries(scores).map(([key, value]) => attribute(`spanscore.${key}`, value))
    return known.spanId === run.agentSpanId ? { ...known, attributes: [...known.attributes, ...added] } : known
  })
  await post(service.page.server.httpPort, toRequest(spans))
  return `${run.traceId}:${run.agentSpanId}`
}
const scoresOf = async (id: string) => {
  const { runs } = await eventually(
    () => service.page.get<{ runs: { id: string; scores: readonly Score[] }[] }>('/api/runs'),
    (list) => list.runs.some((run) => run.id === id && run.scores.length > 1),
  )
  return runs.find((run) => run.id === id)?.scores ?? []
}

describe('scores that an application made', () => {
  it('are in the list, and their failing share counts by their weights', async () => {
    const first = await send({ 'house_style.label': 'fail', 'house_style.score': 0.2, 'house_style.weight': 3 })
    const second = await send({ 'house_style.label': 'pass', 'house_style.score': 0.9 })
    expect(await scoresOf(first)).toContainEqual(
      expect.objectContaining({ scorer: 'house_style', status: 'scored', value: 0.2, label: 'fail' }),
    )
    await scoresOf(second)
    const { all } = await service.page.get<{ all: unknown }>('/api/scores?scorer=house_style')
    expect(all).toMatchObject({ runs: 2, failing: { mean: 0.75 } })
    expect(all).not.toHaveProperty('mean')
    const run = await service.page.get<{ scores: unknown }>(`/api/run?id=${first}`)
    expect(JSON.stringify(run.scores)).toContain('"source":"span"')
  })

  it.each([0, -1, Number.NaN, 1e9])('count with a weight that may be one: not %d', async (weight) => {
    const id = await send({ [`weighted.label`]: 'fail', 'weighted.score': 0, 'weighted.weight': String(weight) })
    await scoresOf(id)
    const run = await service.page.get<{ scores: readonly { evaluation: { weight?: number } }[] }>(`/api/run?id=${id}`)
    expect(run.scores.flatMap(({ evaluation }) => evaluation.weight ?? [])).toEqual([1])
  })

  it('never replace one that the service made, which replaces them', () => {
    const database = openTemporaryDatabase()
    const id = storeScoredRun(database, 1, { value: 1 })
    const ofService = madeScore(id, { value: 1 })
    const ofSpan = { ...madeScore(id, { value: 0, revision: 9 }), source: 'span' as const }
    const save = (score: ShownEvaluation) => saveScore(database, id, '', score, JSON.stringify(score))
    expect(save(ofSpan)).toBe(false)
    const other = { ...ofSpan, scorer: { id: 'other' } }
    expect(save(other)).toBe(true)
    expect(save(other)).toBe(false)
    expect(save({ ...other, revision: 10 })).toBe(true)
    // The service knows the scorer, but did not score the run.
    const leftOut = { ...ofService, scorer: { ...ofService.scorer, id: 'other' } }
    const skipped = { status: 'skipped', reason: 'sampled-out', message: '' } as const
    expect(save({ ...leftOut, score: skipped })).toBe(true)
    const stored = () => firstRow(database, "SELECT source, label, position, weight FROM scores WHERE scorer = 'other'")
    expect(stored()).toEqual({ source: 'span', label: 'fail', position: 0, weight: 1 })
    expect(save(leftOut)).toBe(true)
    expect(stored()).toEqual({ source: 'service', label: 'pass', position: 1, weight: 1 })
    database.close()
  })
})
