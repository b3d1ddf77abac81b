import { createScorer } from 'spanscore'
import { buildRuns, toSpanSet } from 'spanscore/engine'
import { expect, it } from 'vitest'

import { lateSpansAsOtlp } from '../../src/emit/otlp-json.ts'
import { evaluate } from '../../src/scoring/evaluate.ts'
import { loadLibrary, readScenario } from '../../test/corpus/load.ts'
import { encodeRequest } from '../src/send/gathered-scores.ts'
import { ServiceScorer } from '../src/score/service-scorer.ts'
import { ServiceMeters } from '../src/send/service-meters.ts'

const scorer = createScorer({ id: 'named', description: 'Test.', level: 'tool-call', version: 1 }).generateScore(
  ({ call }) => Number(call.name === 'weather'),
)

/** A recorded run with parallel tool calls that have spans. */
function parallelRun(more: Readonly<Record<string, unknown>> = {}) {
  for (const scenario of loadLibrary('ai-6.0.326')) {
    const spans = readScenario(scenario).spans.map((span) => ({ ...span, attributes: { ...span.attributes, ...more } }))
    const run = buildRuns(spans).find(
      ({ toolCalls }) => toolCalls.length >= 2 && toolCalls.every(({ spanId }) => spanId),
    )
    if (run !== undefined) return { run, spans: toSpanSet(spans.map(({ spanId }) => spanId)) }
  }
  throw new Error('expected a run with several calls')
}

it('gives the scores of calls the same spans as a file does, whichever way they are computed', async () => {
  const { run, spans } = parallelRun()
  const service = new ServiceScorer({
    options: { scorers: [scorer] },
    meters: new ServiceMeters('an instance', undefined),
  })
  await service.offer({ run, spans, isCounted: true }, new AbortController().signal)
  const written = service.take()
  await service.shutdown()

  const evaluation = await evaluate(scorer, run)
  const { traceId, spanId, endTimeMs, resource } = run
  const place = { traceId, spanId, endTimeMs, resource, run, spans }
  const request = lateSpansAsOtlp(place, [evaluation], { explanations: 'all', nowMs: 0 })
  if (request === undefined) throw new Error('expected scores')
  const ofFile = (request.resourceSpans as { scopeSpans: { spans: { spanId: string; parentSpanId: string }[] }[] }[])
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans: late }) => late)

  expect(ofFile.map(({ parentSpanId }) => parentSpanId)).toEqual(run.toolCalls.map((call) => call.spanId))
  expect(new Set(ofFile.map((late) => late.spanId)).size).toBe(run.toolCalls.length)
  expect(written.spans).toHaveLength(ofFile.length)
  expect(written.logRecords).toHaveLength(ofFile.length)
  const bytes = Buffer.from(encodeRequest(written.spans)).toString('hex')
  for (const late of ofFile) expect(bytes).toContain(`${late.spanId}2208${late.parentSpanId}`)
  expect(service.ledger().scorers['named']).toMatchObject({ offered: 1, scored: 1, calls: { scored: ofFile.length } })
})

it('leaves out the calls of a run that a processor in the application has scored', async () => {
  const { run, spans } = parallelRun({ 'spanscore.named.score': 1, 'spanscore.named.version': scorer.version })
  const service = new ServiceScorer({
    options: { scorers: [scorer] },
    meters: new ServiceMeters('an instance', undefined),
  })
  await service.offer({ run, spans, isCounted: true }, new AbortController().signal)
  const { spans: late, logRecords } = service.take()
  await service.shutdown()
  expect([...late, ...logRecords]).toEqual([])
  expect(service.ledger().scorers['named']).toMatchObject({
    offered: 1,
    scored: 0,
    reasons: { 'already-scored': 1 },
    calls: { scored: 0, skipped: 0, failed: 0 },
  })
})
