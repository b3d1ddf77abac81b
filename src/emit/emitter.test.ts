import { TraceFlags } from '@opentelemetry/api'
import { describe, expect, it } from 'vitest'

import type { CallScore, Evaluation, Score } from '../model/score.ts'
import { toRunInput } from '../scoring/given/run-input.ts'
import { Emitter } from './emitter.ts'
import type { Emission, EmitterParts, PreparedScore } from './emitter.ts'

const { run } = toRunInput({ runId: 'r', input: 'Where is it?', output: 'In Oslo.' })
const target = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: TraceFlags.SAMPLED }
const scored: Score = { status: 'scored', value: 0.5, label: 'fail', explanation: 'half of it' }

function evaluationOf(score: Score, calls?: readonly CallScore[]): Evaluation {
  return {
    scorer: {
      id: 'works',
      version: '1',
      kind: 'judge',
      range: [0, 1],
      better: 'higher',
      passAt: 1,
      level: calls === undefined ? 'run' : 'tool-call',
    },
    runId: run.id,
    revision: 1,
    complete: true,
    durationMs: 1,
    judge: { model: 'judge-1', calls: 1, usage: { inputTokens: 7 } },
    score,
    ...(calls !== undefined && { calls }),
  }
}

/** What is written of an evaluation, and how often it is counted. */
function written(
  evaluation: Evaluation,
  {
    options = {},
    takesEvents = true,
    ...emission
  }: Partial<Emission> & { options?: Partial<EmitterParts['options']>; takesEvents?: boolean } = {},
): { readonly scores: readonly PreparedScore[]; readonly counted: number } {
  const scores: PreparedScore[] = []
  let counted = 0
  const emitter = new Emitter({
    options: {
      attributes: true,
      events: true,
      lateSpans: 'late',
      metrics: true,
      traits: true,
      explanations: 'all',
      stripContent: false,
      ...options,
    },
    sink: { takesEvents: () => takesEvents, write: (score) => scores.push(score) },
    metrics: { record: () => (counted += 1) } as never,
    nowMs: () => 5,
  })
  emitter.emit({ evaluation, run, target, endTime: [1, 0], isOnSpan: false, counted: true, extra: {}, ...emission })
  return { scores, counted }
}

const signals = (...args: Parameters<typeof written>) =>
  written(...args).scores.map(({ isEvent, isLateSpan }) => ({ isEvent, isLateSpan }))

describe('a score', () => {
  it('is an event, and a late span if it is not on the span of the agent', () => {
    const evaluation = evaluationOf(scored)
    expect(signals(evaluation)).toEqual([{ isEvent: true, isLateSpan: true }])
    expect(signals(evaluation, { isOnSpan: true })).toEqual([{ isEvent: true, isLateSpan: false }])
    expect(signals(evaluation, { isOnSpan: true, options: { lateSpans: 'always' } })).toEqual([
      { isEvent: true, isLateSpan: true },
    ])
    expect(signals(evaluation, { options: { lateSpans: 'never' } })).toEqual([{ isEvent: true, isLateSpan: false }])
    expect(signals(evaluation, { options: { events: false } })).toEqual([{ isEvent: false, isLateSpan: true }])
    expect(signals(evaluation, { takesEvents: false, isOnSpan: true })).toEqual([])
  })

  it('has no late span below a span that is not sampled', () => {
    expect(signals(evaluationOf(scored), { target: { ...target, traceFlags: 0 } })).toEqual([
      { isEvent: true, isLateSpan: false },
    ])
  })

  it('is counted once, also if its run was never read, which is then all that happens', () => {
    expect(written(evaluationOf(scored)).counted).toBe(1)
    expect(written(evaluationOf(scored), { counted: false }).counted).toBe(0)
    expect(written(evaluationOf(scored), { options: { metrics: false } }).counted).toBe(0)
    expect(written(evaluationOf(scored), { run: undefined })).toEqual({ scores: [], counted: 1 })
  })

  it('that is missing has no event: a failed one has its code, a skipped one the reason on the late span', () => {
    const failed = written(evaluationOf({ status: 'failed', code: 'judge-http', message: 'no answer' })).scores
    expect(failed).toMatchObject([{ isEvent: true, attributes: { 'error.type': 'judge-http' } }])
    const skipped = written(evaluationOf({ status: 'skipped', reason: 'no-content', message: 'nothing' })).scores
    expect(skipped).toMatchObject([{ isEvent: false, ofLateSpan: { 'spanscore.works.status_reason': 'no-content' } }])
  })

  it('has the time of the verdict, and ids if every process gives it the same', () => {
    expect(written(evaluationOf(scored)).scores).toMatchObject([{ verdictTimeMs: 5, lateSpanId: undefined }])
    const spans = { count: 3, digest: 'd' }
    const [once, again] = [1, 2].map(() => written(evaluationOf(scored), { spans }).scores[0])
    expect(once?.lateSpanId).toMatch(/^[\da-f]{16}$/)
    expect(again).toEqual(once)
    expect(once?.attributes).toMatchObject({ 'spanscore.score.key': expect.stringMatching(/^[\da-f]{32}$/) })
  })
})

const callAt = (index: number, score: Score = scored): CallScore => ({
  index,
  name: 'track',
  spanId: `${index}`.padStart(16, '0'),
  score,
})

describe('the scores of calls', () => {
  it('are written one by one, each at its own span, without the tokens of the judge', () => {
    const { scores, counted } = written(evaluationOf(scored, [callAt(3), callAt(4)]), { isOnSpan: true })
    expect(counted).toBe(1)
    expect(scores.map(({ target: { spanId }, isLateSpan }) => [spanId, isLateSpan])).toEqual([
      ['0000000000000003', true],
      ['0000000000000004', true],
    ])
    for (const { attributes } of scores) {
      expect(attributes).toMatchObject({ 'gen_ai.tool.name': 'track', 'spanscore.judge.model': 'judge-1' })
      expect(attributes).not.toHaveProperty('spanscore.judge.input_tokens')
    }
  })

  it('are those of the 64 worst, without the skipped ones', () => {
    const skipped = callAt(0, { status: 'skipped', reason: 'not-applicable', message: '' })
    const calls = Array.from({ length: 100 }, (_, index) => callAt(index, { ...scored, value: (100 - index) / 100 }))
    const { scores } = written(evaluationOf(scored, [skipped, ...calls]))
    expect(scores.length).toBe(64)
    expect(Math.max(...scores.map(({ attributes }) => Number(attributes['gen_ai.evaluation.score.value'])))).toBe(0.64)
  })

  it('are those of the run if the scorer could not look at any', () => {
    expect(written(evaluationOf({ status: 'failed', code: 'judge-http', message: '' }, [])).scores).toEqual([])
    const { calls: _, ...whole } = evaluationOf(scored, [])
    expect(written(whole).scores).toMatchObject([{ target: { spanId: target.spanId } }])
  })
})
