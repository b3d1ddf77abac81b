import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadLibrary, readScenario } from '../../test/corpus/load.ts'
import { sourceSpan } from '../../test/fixtures/source-span.ts'
import { buildRuns } from '../runs/build-runs.ts'
import type { Finding } from '../model/finding.ts'
import type { Evaluation, Score } from '../model/score.ts'
import type { SourceLog, SourceSpan } from '../spans/source-span.ts'
import { lateSpansAsOtlp, scoresAsOtlp } from '../emit/otlp-json.ts'
import { readOtlpJson } from './json.ts'
import { createScorer } from '../scorers/create/create-scorer.ts'
import { evaluate } from '../scoring/evaluate.ts'
import { toSpanSet } from '../emit/score-ids.ts'
import { eventAttributes } from '../attributes/event-attributes.ts'
import { lateSpanAttributes } from '../attributes/late-span-attributes.ts'
import { scoreAttributes } from '../attributes/score-attributes.ts'
import { weightOf } from '../sampling/weight.ts'
import { storedWeight } from './stored-score.ts'
import { StoredScores } from './stored-scores.ts'
import type { ScoreIdentity, StoredScore } from './stored-score.ts'

const recorded = loadLibrary('ai-6.0.326').find((scenario) => scenario.id === '01-weather.generateText')
if (recorded === undefined) throw new Error('expected the recording')
const { spans } = readScenario(recorded)
const [run] = buildRuns(spans)
const [anySpan] = spans
if (run === undefined || anySpan === undefined) throw new Error('expected a run')

const withScores = (attributes: Record<string, unknown>): SourceSpan[] =>
  spans.map((span) =>
    span.spanId === run.spanId ? { ...span, attributes: { ...span.attributes, ...attributes } } : span,
  )

const lateSpan = (id: string, attributes: Record<string, unknown>): SourceSpan => ({
  ...anySpan,
  spanId: 'ffffffffffffff01',
  parentSpanId: run.spanId,
  name: `evaluate ${id}`,
  scope: { name: 'spanscore' },
  attributes,
})

const event = (attributes: Record<string, unknown>): SourceLog => ({
  traceId: run.traceId,
  spanId: run.spanId,
  eventName: 'gen_ai.evaluation.result',
  timeMs: 0,
  attributes,
  scope: { name: 'spanscore' },
})

const scored = (value: number, version: string, delayMs: number) => ({
  'gen_ai.evaluation.name': 'x',
  'gen_ai.evaluation.score.value': value,
  'spanscore.revision': 1,
  'gen_ai.evaluation.evaluator.version': version,
  'spanscore.verdict_delay_ms': delayMs,
})

describe('what a scorer found', () => {
  const found = { 'spanscore.x.score': 1, 'spanscore.x.label': 'pass', 'spanscore.x.found': 2 }

  it.each([
    ['the span', () => new StoredScores(withScores(found), [])],
    ['a late span', () => new StoredScores([...spans, lateSpan('x', found)], [])],
    ['an event', () => new StoredScores(spans, [event({ ...scored(1, '1', 0), 'spanscore.x.found': 2 })])],
  ])('is read back from %s', (_, stored) => {
    expect(stored().of(run)).toMatchObject([{ scorerId: 'x', value: 1, found: 2 }])
  })
})

const readWeight = (weight: unknown) => {
  const attributes = { 'spanscore.x.score': 1, 'spanscore.x.label': 'pass', 'spanscore.x.weight': weight }
  const [score] = new StoredScores(withScores(attributes), []).of(run)
  return score && storedWeight(score)
}

const said = (attributes: Record<string, unknown>, timeMs = 0): SourceLog => ({ ...event(attributes), timeMs })
const thumb = (value: number, userId: string) => ({
  'gen_ai.evaluation.name': 'x',
  'gen_ai.evaluation.score.value': value,
  'gen_ai.evaluation.evaluator.type': 'user',
  'user.id': userId,
})

const evaluated = (endTimeMs: number): SourceSpan => ({
  ...anySpan,
  spanId: `fffffffffffffff${endTimeMs}`,
  parentSpanId: run.spanId,
  endTimeMs,
  scope: { name: 'other' },
  attributes: {
    'openinference.span.kind': 'EVALUATOR',
    'evaluations.0.evaluation.name': 'toxicity',
    'evaluations.0.evaluation.score': endTimeMs,
  },
})

const rules = { explanations: 'all', stripContent: false } as const
const text = fc.string({ minLength: 1, maxLength: 40 })
const fraction = fc.double({ min: 0, max: 1, noNaN: true })
const someFinding: fc.Arbitrary<Finding> = fc.record(
  {
    about: text,
    verdict: text,
    rating: fc.constantFrom('good', 'bad', 'open'),
    text,
    reason: text,
    places: fc.constant([{ in: 'answer' }, { in: 'arguments', index: 1, path: 'city' }] as const),
  },
  { requiredKeys: ['about', 'verdict', 'rating', 'text'] },
)
const someScore: fc.Arbitrary<Score> = fc.oneof(
  fc.record(
    {
      status: fc.constant('scored' as const),
      value: fraction,
      label: fc.constantFrom('pass' as const, 'fail' as const),
      explanation: text,
      findings: fc.array(someFinding, { minLength: 1, maxLength: 3 }),
    },
    { requiredKeys: ['status', 'value', 'label'] },
  ),
  fc.record({ status: fc.constant('skipped' as const), reason: fc.constant('no-output' as const), message: text }),
  fc.record({ status: fc.constant('failed' as const), code: fc.constant('judge-http' as const), message: text }),
)
const someEvaluation: fc.Arbitrary<Evaluation> = fc.record(
  {
    scorer: fc.record({
      // Some ids are words that attributes of ours have in the same place.
      id: fc.oneof(fc.stringMatching(/^[a-z][a-z0-9_]{0,9}$/), fc.constantFrom('score', 'judge', 'status', 'revision')),
      version: fc.stringMatching(/^[0-9a-f]{8}$/),
      kind: fc.constantFrom('code' as const, 'judge' as const),
      range: fc.constantFrom([0, 1] as const, [-1, 10] as const),
      better: fc.constantFrom('higher' as const, 'lower' as const),
      passAt: fc.constant(0.5),
      level: fc.constant('run' as const),
    }),
    runId: fc.constant(run.id),
    revision: fc.integer({ min: 1, max: 9 }),
    complete: fc.boolean(),
    probability: fraction,
    upstreamProbability: fraction,
    durationMs: fc.constant(1),
    judge: fc.record({ model: text, calls: fc.constant(1), usage: fc.constant({ inputTokens: 1 }) }),
    score: someScore,
  },
  { requiredKeys: ['scorer', 'runId', 'revision', 'complete', 'durationMs', 'score'] },
)

/** What is read back of a score that was written to a span: all of it but its origin. */
function storedOf({ scorer, score }: Evaluation): StoredScore {
  const scorerId = scorer.id
  if (score.status === 'scored') {
    const { value, label, explanation } = score
    return { scorerId, value, label, ...(explanation !== undefined && { explanation }) }
  }
  const reason = score.status === 'skipped' ? score.reason : score.code
  return { scorerId, status: score.status, reason, message: score.message }
}

function originOf({ scorer, revision, judge, probability, upstreamProbability }: Evaluation): ScoreIdentity {
  const { version, range, better } = scorer
  return {
    revision,
    version,
    ...(judge !== undefined && { judgeModel: judge.model }),
    range,
    better,
    ...(probability !== undefined && { probability }),
    ...(upstreamProbability !== undefined && { upstreamProbability }),
  }
}

describe('scores that traces already hold', () => {
  it('are read back as they were written, from the span, the late span and the event', () => {
    fc.assert(
      fc.property(someEvaluation, (evaluation) => {
        const { id } = evaluation.scorer
        const ofEvent = eventAttributes(evaluation, run, { rules, verdictTimeMs: run.endTimeMs + 1, extra: {} })
        const late = lateSpan(id, { ...lateSpanAttributes(evaluation, rules), ...ofEvent })
        const stored = storedOf(evaluation)
        const { score } = evaluation
        const about = {
          about: originOf(evaluation),
          ...(score.status === 'scored' && score.findings !== undefined && { findings: score.findings }),
        }
        const weight = score.status === 'scored' ? weightOf(evaluation) : undefined
        const onSpan = { ...stored, ...(weight !== undefined && weight !== 1 && { weight }) }
        expect(new StoredScores(withScores(scoreAttributes(evaluation, rules)), []).of(run)).toEqual([onSpan])
        expect(new StoredScores([late], []).of(run)).toEqual([{ ...stored, ...about }])
        if (evaluation.score.status === 'skipped') return
        // An event has the code of a failure, and no message.
        const { message: _, ...ofStored } = stored
        expect(new StoredScores(spans, [event(ofEvent)]).of(run)).toEqual([{ ...ofStored, ...about }])
      }),
    )
  })

  it('have a weight on the span, which is at most 1,000, and none that is no number above 0', () => {
    expect([4, 5000, 0, -1, Number.NaN, Number.POSITIVE_INFINITY, '7', undefined].map(readWeight)).toEqual([
      4, 1000, 1, 1, 1, 1, 1, 1,
    ])
  })

  it('are read from the span, from late spans and from events', () => {
    const scores = new StoredScores(
      [
        ...withScores({
          'spanscore.tool_errors.score': 1,
          'spanscore.tool_errors.label': 'pass',
          'spanscore.tool_errors.explanation': 'No call failed.',
          'spanscore.alignment.status': 'skipped',
          'spanscore.alignment.status_reason': 'judge-unavailable',
          'spanscore.alignment.status_message': 'No key.',
          'spanscore.complete': true,
        }),
        lateSpan('faithfulness', { 'spanscore.faithfulness.score': 0.5, 'spanscore.faithfulness.label': 'fail' }),
      ],
      [
        event({ 'gen_ai.evaluation.name': 'Helpfulness', 'gen_ai.evaluation.score.label': 'good' }),
        event({ 'gen_ai.evaluation.name': 'relevancy', 'error.type': 'judge-timeout' }),
      ],
    )
    expect(scores.of(run)).toEqual([
      { scorerId: 'tool_errors', value: 1, label: 'pass', explanation: 'No call failed.' },
      { scorerId: 'alignment', status: 'skipped', reason: 'judge-unavailable', message: 'No key.' },
      { scorerId: 'faithfulness', value: 0.5, label: 'fail' },
      { scorerId: 'Helpfulness', label: 'good', isForeign: true },
      { scorerId: 'relevancy', status: 'failed', reason: 'judge-timeout', isForeign: true },
    ])
  })

  it('count once if one was written in several ways, in its latest revision', () => {
    const onSpan = withScores({ 'spanscore.x.score': 1, 'spanscore.x.label': 'pass', 'spanscore.revision': 1 })
    const again = event({
      'gen_ai.evaluation.name': 'x',
      'gen_ai.evaluation.score.value': 1,
      'gen_ai.evaluation.score.label': 'pass',
      'gen_ai.evaluation.explanation': 'from the event',
      'spanscore.revision': 1,
    })
    const later = lateSpan('x', { 'spanscore.x.score': 0, 'spanscore.x.label': 'fail', 'spanscore.revision': 2 })
    expect(new StoredScores(onSpan, [again]).of(run)).toEqual([{ scorerId: 'x', value: 1, label: 'pass' }])
    expect(new StoredScores([...onSpan, later], [again]).of(run)).toEqual([{ scorerId: 'x', value: 0, label: 'fail' }])
  })

  it('have the details of the event, also for the score on the span', () => {
    const onSpan = withScores({ 'spanscore.x.score': 2, 'spanscore.x.label': 'fail', 'spanscore.revision': 1 })
    const how = {
      'spanscore.revision': 1,
      'gen_ai.evaluation.evaluator.version': '1a2b3c4d',
      'spanscore.judge.model': 'judge-1',
      'spanscore.score.min': 0,
      'spanscore.score.max': 10,
      'spanscore.score.better': 'lower',
      'spanscore.probability': 0.05,
    }
    const same = event({
      'gen_ai.evaluation.name': 'x',
      'gen_ai.evaluation.score.value': 2,
      'gen_ai.evaluation.score.label': 'fail',
      ...how,
    })
    const about = {
      revision: 1,
      version: '1a2b3c4d',
      judgeModel: 'judge-1',
      range: [0, 10],
      better: 'lower',
      probability: 0.05,
    }
    const expected = [{ scorerId: 'x', value: 2, label: 'fail', about }]
    expect(new StoredScores(onSpan, [same]).of(run)).toEqual(expected)
    const late = lateSpan('x', { 'spanscore.x.score': 2, 'spanscore.x.label': 'fail', ...how })
    expect(new StoredScores([late], []).of(run)).toEqual(expected)
    // Another score of the same scorer, such as of an older version: what its event says does not hold for this one.
    const other = event({ 'gen_ai.evaluation.name': 'x', 'gen_ai.evaluation.score.value': 3, ...how })
    expect(new StoredScores(onSpan, [other]).of(run)).toEqual([{ scorerId: 'x', value: 2, label: 'fail' }])
  })

  it('of a run that another version scored again are the later ones, in whatever order they are read', () => {
    const onSpan = withScores({ 'spanscore.x.score': 1, 'spanscore.x.version': 'aaaaaaaa', 'spanscore.revision': 1 })
    const first = event(scored(1, 'aaaaaaaa', 3))
    const again = event(scored(1, 'bbbbbbbb', 90))
    for (const logs of [
      [first, again],
      [again, first],
    ]) {
      for (const withSpan of [onSpan, []]) {
        const [found] = new StoredScores(withSpan, logs).of(run)
        expect(found?.about?.version).toBe('bbbbbbbb')
      }
    }
    // The event of another version says nothing of the score on the span.
    const [same] = new StoredScores(onSpan, [first]).of(run)
    expect(same?.about?.version).toBe('aaaaaaaa')
  })

  it('are absent if nothing was scored', () => {
    expect(new StoredScores(spans, []).of(run)).toEqual([])
  })

  it('stand beside what users and other tools say by the same name', () => {
    const logs = [
      said(scored(0.5, 'one', 1)),
      said(thumb(0, 'ann'), 2),
      said(thumb(1, 'ann'), 1),
      said(thumb(1, 'bob')),
    ]
    for (const order of [logs, logs.toReversed()]) {
      const values = new StoredScores(spans, order).of(run).map(({ value, evaluatorType }) => [evaluatorType, value])
      expect(values.toSorted((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1))).toEqual([
        ['user', 0],
        ['user', 1],
        [undefined, 0.5],
      ])
    }
  })

  it("are read from other tools' spans, events of spans, and annotations", () => {
    const evaluator: SourceSpan = {
      ...anySpan,
      spanId: 'ffffffffffffff02',
      parentSpanId: run.spanId,
      name: 'evaluate',
      scope: { name: 'other' },
      attributes: { 'gen_ai.evaluation.name': 'Correctness', 'gen_ai.evaluation.score.value': 0.75 },
    }
    const openinference: SourceSpan = {
      ...evaluator,
      spanId: 'ffffffffffffff03',
      attributes: {
        'openinference.span.kind': 'EVALUATOR',
        'evaluations.0.evaluation.name': 'toxicity',
        'evaluations.0.evaluation.label': 'none',
        'evaluations.0.evaluation.annotator_kind': 'CODE',
      },
    }
    const annotated = withScores({
      'annotations.0.annotation.name': 'hallucination',
      'annotations.0.annotation.score': 1,
      'annotations.0.annotation.label': 'hallucinated',
      'annotations.0.annotation.explanation': 'No source says so.',
      'annotations.0.annotation.annotator_kind': 'HUMAN',
      'annotations.1.annotation.score': 1,
    }).map((span) =>
      span.spanId === run.spanId
        ? {
            ...span,
            events: [
              {
                name: 'gen_ai.evaluation.result',
                timeMs: 0,
                attributes: { 'gen_ai.evaluation.name': 'tone', 'gen_ai.evaluation.score.label': 'kind' },
              },
            ],
          }
        : span,
    )
    expect(new StoredScores([...annotated, evaluator, openinference], []).of(run)).toEqual([
      { scorerId: 'tone', label: 'kind', isForeign: true },
      {
        scorerId: 'hallucination',
        value: 1,
        label: 'hallucinated',
        explanation: 'No source says so.',
        evaluatorType: 'human',
        isForeign: true,
      },
      { scorerId: 'Correctness', value: 0.75, isForeign: true },
      { scorerId: 'toxicity', label: 'none', evaluatorType: 'deterministic', isForeign: true },
    ])
  })

  it('are the later ones if an evaluator says it again, in whatever order its spans are read', () => {
    for (const all of [
      [evaluated(1), evaluated(2)],
      [evaluated(2), evaluated(1)],
    ])
      expect(new StoredScores([...spans, ...all], []).of(run)).toEqual([
        { scorerId: 'toxicity', value: 2, isForeign: true },
      ])
  })

  it('of the request around a run are those of the run, unless the request has several', () => {
    const request: SourceSpan = {
      ...anySpan,
      spanId: 'ffffffffffffff04',
      parentSpanId: undefined,
      name: 'POST /chat',
      scope: { name: 'http' },
      attributes: {},
    }
    const below = (spanId: string): SourceSpan[] =>
      spans.map((span) =>
        span.spanId === run.spanId
          ? { ...span, spanId, parentSpanId: request.spanId }
          : { ...span, parentSpanId: spanId, spanId: `${spanId.slice(0, 8)}${span.spanId.slice(8)}` },
      )
    const one = [request, ...below('aaaaaaaaaaaaaaaa')]
    const two = [...one, ...below('bbbbbbbbbbbbbbbb')]
    for (const spanId of [request.spanId, '']) {
      const log = { ...event({ 'gen_ai.evaluation.name': 'thumbs', 'gen_ai.evaluation.score.value': 0 }), spanId }
      const valuesIn = (all: SourceSpan[]) => {
        const roots = buildRuns(all)
        const scores = new StoredScores(all, [log], roots)
        return roots.map((root) => scores.of(root).length)
      }
      expect(valuesIn(one)).toEqual([1])
      expect(valuesIn(two)).toEqual([0, 0])
    }
  })
})

const ofCall = (value: number | undefined, spanId: string, more: Record<string, unknown> = {}): SourceLog => ({
  ...event({
    ...scored(value ?? 0, '1', 5),
    'gen_ai.evaluation.score.value': value,
    'gen_ai.evaluation.score.label': value === 1 ? 'pass' : 'fail',
    'spanscore.level': 'tool-call',
    ...more,
  }),
  spanId,
})

const named = (id: string) => ({ 'gen_ai.tool.name': 'other', 'gen_ai.tool.call.id': id })

describe('scores of calls that traces already hold', () => {
  const calls = run.toolCalls
  const [call] = calls
  if (call?.spanId === undefined) throw new Error('expected a call')
  it('are found at the spans of the calls, with their mean', () => {
    const [found, ...others] = new StoredScores(spans, [ofCall(0, call.spanId ?? '')]).of(run)
    expect(others).toEqual([])
    expect(found).toMatchObject({ scorerId: 'x', value: 0, label: 'fail', level: 'tool-call', about: { version: '1' } })
    expect(found?.calls).toEqual([{ index: 0, value: 0, label: 'fail' }])
  })

  it('are found beside the sum on the span of the agent', () => {
    const summed = withScores({ 'spanscore.x.score': 0.25, 'spanscore.x.label': 'fail', 'spanscore.x.version': '1' })
    const [found] = new StoredScores(summed, [ofCall(0, call.spanId ?? '')]).of(run)
    expect(found).toMatchObject({ value: 0.25, calls: [{ index: 0, value: 0 }] })
  })

  it('do not mix if calls have no spans of their own', () => {
    const logs = [ofCall(0, run.spanId, named('a')), ofCall(1, run.spanId, named('b'))]
    const [found] = new StoredScores(spans, logs).of(run)
    expect(found).toMatchObject({ value: 0.5, label: 'fail' })
    expect(found?.calls).toHaveLength(2)
  })

  it('are read with those that failed, from late spans and from events', async () => {
    const agent = sourceSpan({
      spanId: 'a'.repeat(16),
      endTimeMs: 9,
      attributes: { 'gen_ai.operation.name': 'invoke_agent' },
    })
    const found = ['one', 'two', 'three'].map((query, index) =>
      sourceSpan({
        spanId: `${index + 1}`.repeat(16),
        parentSpanId: agent.spanId,
        startTimeMs: index + 1,
        endTimeMs: index + 1,
        attributes: { 'gen_ai.operation.name': 'retrieval', 'gen_ai.retrieval.query.text': query },
      }),
    )
    const searches = [agent, ...found]
    const [searched] = buildRuns(searches)
    if (searched === undefined) throw new Error('expected a run')
    const scorer = createScorer({ id: 'searched', description: 'Test.', level: 'retrieval' }).generateScore(
      ({ call: { query } }) => {
        if (query === 'two') throw new Error('no')
        return Number(query === 'one')
      },
    )
    const evaluation = await evaluate(scorer, searched)
    const { traceId, spanId, endTimeMs, resource } = searched
    const place = {
      traceId,
      spanId,
      endTimeMs,
      resource,
      run: searched,
      spans: toSpanSet(searches.map((each) => each.spanId)),
    }
    const options = { explanations: 'all', nowMs: 0 } as const
    const late = readOtlpJson(lateSpansAsOtlp(place, [evaluation], options))?.spans ?? []
    const events = readOtlpJson(scoresAsOtlp(place, [evaluation], options))?.logs ?? []
    for (const stored of [new StoredScores([...searches, ...late], []), new StoredScores(searches, events)]) {
      expect(stored.of(searched)).toMatchObject([
        {
          scorerId: 'searched',
          value: 0.5,
          level: 'retrieval',
          calls: [
            { index: 0, value: 1, label: 'pass' },
            { index: 1, status: 'failed', reason: 'scorer-threw' },
            { index: 2, value: 0, label: 'fail' },
          ],
        },
      ])
    }
  })

  it('are those of the run if its calls could not be asked about', () => {
    const failed = ofCall(undefined, run.spanId, {
      'error.type': 'judge-timeout',
      'gen_ai.evaluation.score.label': undefined,
    })
    expect(new StoredScores(spans, [failed]).of(run)).toMatchObject([
      { scorerId: 'x', status: 'failed', reason: 'judge-timeout' },
    ])
  })
})

it('scores of a conversation are none of its last run, and belong to the conversation with their id', () => {
  const ofConversation = (id: string, value: number, revision: number) => ({
    ...scored(value, '1', 5),
    'spanscore.revision': revision,
    'spanscore.level': 'conversation',
    'spanscore.turns': revision,
    'gen_ai.conversation.id': id,
    'spanscore.x.score': value,
    'spanscore.x.label': 'fail',
  })
  const late = lateSpan('x', ofConversation('a', 0.25, 3))
  const logs = [
    { ...event(ofConversation('a', 0.5, 2)), spanId: '' },
    { ...event(ofConversation('b', 1, 1)), spanId: '' },
    event(scored(0.75, '1', 5)),
  ]
  const scores = new StoredScores([...spans, late], logs, [run])
  expect(scores.of(run)).toMatchObject([{ value: 0.75 }])
  const inConversation = (conversationId: string) => ({ ...run, conversationId, traceId: run.traceId })
  expect(scores.ofConversation(inConversation('a'))).toMatchObject([
    { scorerId: 'x', value: 0.25, level: 'conversation', turns: 3, about: { revision: 3 } },
  ])
  expect(scores.ofConversation(inConversation('b'))).toMatchObject([{ value: 1, turns: 1 }])
  expect(scores.ofConversation(inConversation('c'))).toEqual([])
})
