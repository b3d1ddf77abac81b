import { describe, expect, it } from 'vitest'
import { loadLibrary, readScenario } from '../../test/corpus/load.ts'
import { buildRuns } from '../runs/build-runs.ts'
import type { SourceLog, SourceSpan } from '../spans/source-span.ts'
import { StoredScores } from './stored-scores.ts'

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

describe('scores that traces already hold', () => {
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
      { scorerId: 'Helpfulness', label: 'good' },
      { scorerId: 'relevancy', status: 'failed', reason: 'judge-timeout' },
    ])
  })

  it('count once where one was written in several ways, in its latest revision', () => {
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

  it('are none where nothing was scored', () => {
    expect(new StoredScores(spans, []).of(run)).toEqual([])
  })
})
