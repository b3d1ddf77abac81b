import { TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'

import { toStoredRuns } from '../../src/otlp/runs-by-start.ts'
import { attachScoring } from '../../src/processor/attach/attach.ts'
import type { Feedback } from '../../src/entries/main.ts'
import { attachNothing } from '../../src/processor/attach/noop.ts'
import { codeScorer, createPipeline, runAgent } from './harness.ts'

const ids = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }

async function createScoring(options: Partial<Parameters<typeof attachScoring>[0]> = {}) {
  const pipeline = await createPipeline({ processors: (batch) => [batch] })
  const scoring = attachScoring({ scorers: [codeScorer('exact')], ...options })
  const received = async () => {
    await scoring.forceFlush()
    await pipeline.flush()
    const { logs, metrics } = pipeline.receiver
    const latest = new Map(
      metrics
        .filter(({ name }) => name === 'spanscore.feedback')
        .map(({ attributes, value }) => [JSON.stringify(attributes), value]),
    )
    return {
      events: logs.filter(({ attributes }) => attributes['gen_ai.evaluation.evaluator.type'] === 'user'),
      counts: Object.fromEntries(latest),
    }
  }
  return { ...pipeline, scoring, received }
}

test('feedback is an event of the run, and a count, and not in the ledger', async () => {
  const { scoring, received } = await createScoring()
  const before = scoring.ledger()
  const given = { ...ids, name: 'thumbs', value: false, comment: 'wrong city', userId: 'ann' }
  expect(scoring.feedback(given)).toBe(true)
  expect(scoring.feedback({ runId: `${ids.traceId}:${ids.spanId}`, name: 'stars', value: 4 })).toBe(true)
  expect(scoring.ledger()).toEqual(before)
  const { events, counts } = await received()
  expect(
    events.map(({ eventName, traceId, spanId, attributes }) => ({ eventName, traceId, spanId, attributes })),
  ).toEqual([
    {
      eventName: 'gen_ai.evaluation.result',
      ...ids,
      attributes: {
        'gen_ai.evaluation.name': 'thumbs',
        'gen_ai.evaluation.score.value': 0,
        'gen_ai.evaluation.score.label': 'fail',
        'gen_ai.evaluation.explanation': 'wrong city',
        'gen_ai.evaluation.evaluator.type': 'user',
        'user.id': 'ann',
      },
    },
    {
      eventName: 'gen_ai.evaluation.result',
      ...ids,
      attributes: {
        'gen_ai.evaluation.name': 'stars',
        'gen_ai.evaluation.score.value': 4,
        'gen_ai.evaluation.evaluator.type': 'user',
      },
    },
  ])
  expect(counts).toEqual({
    '{"gen_ai.evaluation.name":"thumbs","gen_ai.evaluation.score.label":"fail"}': 1,
    '{"gen_ai.evaluation.name":"stars"}': 1,
  })
})

test.each([
  ['stripContent', { stripContent: true }, ['gen_ai.evaluation.explanation', 'user.id']],
  ['emit.explanations', { emit: { explanations: 'code' as const } }, ['gen_ai.evaluation.explanation']],
])('%s removes the words of the user', async (_option, options, removed) => {
  const { scoring, received } = await createScoring(options)
  scoring.feedback({ ...ids, name: 'thumbs', value: true, comment: 'thanks', userId: 'ann' })
  const { events } = await received()
  const keys = Object.keys(events[0]!.attributes)
  expect(['gen_ai.evaluation.explanation', 'user.id'].filter((key) => !keys.includes(key))).toEqual(removed)
})

test('feedback joins the run of its trace, by the span of the request around it', async () => {
  const { tracer, scoring, received, receiver } = await createScoring()
  const request = tracer.startSpan('POST /chat')
  runAgent(tracer, 'weather-agent', request)
  request.end()
  const { traceId, spanId } = request.spanContext()
  scoring.feedback({ traceId, spanId, name: 'thumbs', value: true })
  const { events } = await received()
  const [stored] = toStoredRuns(receiver.spans, events)
  expect(stored!.scoresOf(stored!.run)).toContainEqual({
    scorerId: 'thumbs',
    value: 1,
    label: 'pass',
    evaluatorType: 'user',
    isForeign: true,
  })
})

test('without a logger provider there is no event', () => {
  const scoring = attachScoring({ scorers: [codeScorer('exact')], tracerProvider: new TracerProvider() })
  expect(scoring.feedback({ ...ids, name: 'thumbs', value: true })).toBe(false)
  expect(attachNothing({ scorers: [] }).feedback({ ...ids, name: 'thumbs', value: true })).toBe(false)
})

test.each<[unknown, string]>([
  [null, 'feedback: expected an object, got null'],
  [[], 'feedback: expected an object, got a list'],
  [{ ...ids, name: 'thumbs' }, 'feedback.value: expected a number, true or false, got undefined'],
  [{ ...ids, name: 'thumbs', value: Number.NaN }, 'feedback.value: expected a number, true or false, got NaN'],
  [{ ...ids, name: '', value: 1 }, 'feedback.name: expected a name such as thumbs, got string'],
  [
    { name: 'thumbs', value: 1 },
    'feedback.traceId and spanId: expected both, as 32 and 16 lower-case hex digits, or runId',
  ],
  [{ runId: 'x', name: 'thumbs', value: 1 }, 'feedback.runId: expected the id of a run'],
  [
    { ...ids, name: 'thumbs', value: 1, coment: 'x' },
    'expected one of traceId, spanId, runId, name, value, label, comment, userId',
  ],
])('%j is refused', (given, message) => {
  const scoring = attachScoring({ scorers: [codeScorer('exact')], tracerProvider: new TracerProvider() })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what an application in JavaScript may pass
  expect(() => scoring.feedback(given as Feedback)).toThrow(message)
})
