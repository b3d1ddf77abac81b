import { readOtlpJson } from 'spanscore/engine'
import type { Evaluation, SourceLog } from 'spanscore/engine'

import { saveContent } from '../../src/page/store/content.ts'
import { openPageDatabase } from '../../src/page/store/page-database.ts'
import { saveSaid } from '../../src/page/store/said.ts'
import { TraitStore } from '../../src/page/store/traits.ts'
import { saveRun, saveScore } from '../../src/page/store/run-writer.ts'
import { otlp, record } from './made-run.ts'
import type { MadeCall } from './made-run.ts'

const HOUR_MS = 3_600_000

/**
 * Stores two days of scored runs of three agents, as the page itself would have. With a new version, one gets worse in the second afternoon: a tool of it
 * fails, and users dislike its answers.
 */
export function saveDay(folder: string, nowMs: number): void {
  const database = openPageDatabase(folder)
  let seed = 7
  const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647
  const agents = [
    { agent: 'support-agent', failing: (hour: number) => (hour > 41 ? 0.5 : 0.14) },
    { agent: 'trip-agent', failing: () => 0.3 },
    { agent: 'weather-agent', failing: () => 0.04 },
  ]
  database.exec('BEGIN')
  const traits = new TraitStore(database)
  for (let index = 0; index < 3000; index++) {
    const hour = (index / 3000) * 48
    const { agent, failing } = agents[index % agents.length] ?? { agent: '', failing: () => 0 }
    const settledMs = nowMs - 48 * HOUR_MS + hour * HOUR_MS
    const traceId = (index + 1).toString(16).padStart(32, '0')
    const version = hour > 41 ? '1.5.0' : '1.4.0'
    const value = random() < failing(hour) ? Math.round(random() * 6) / 10 : 1 - Math.round(random() * 2) / 10
    // Some runs fail without it, so that it is a cause and not the failure itself.
    const isToolBroken = agent === 'support-agent' && hour > 41 && value < 0.7 && index % 8 > 0
    const order = `A-${1000 + index}`
    const tool = index % 2 === 0 ? 'find_order' : 'get_stock'
    const calls: MadeCall[] = [{ name: tool, arguments: { order }, result: { order, euros: 89, items: 1 } }]
    if (isToolBroken) {
      calls.push({
        name: 'refund_order',
        arguments: { order, euros: 89 },
        error: 'payment gateway: API version 3 is gone',
      })
    }
    const question = `Where is the money for order ${order}?`
    const answer = value < 0.7 ? 'Your money is on its way.' : 'The order costs 89 euros.'
    const startMs = settledMs - 3000
    const made = { agent, version, question, calls, answer, durationMs: 3000 }
    const { runId: id, spans } = record(made, startMs, traceId)
    const evaluation: Evaluation = {
      scorer: {
        id: 'faithfulness',
        version: '10e5caf8',
        kind: 'judge',
        range: [0, 1],
        better: 'higher',
        passAt: 0.7,
        level: 'run',
      },
      runId: id,
      revision: 4,
      complete: true,
      probability: 1,
      durationMs: 900,
      judge: { model: 'gpt-5-mini', calls: 1, usage: {}, costUsd: 0.0004 },
      score: value >= 0.7 ? { status: 'scored', value, label: 'pass' } : failed(value, isToolBroken),
    }
    const summary = {
      id,
      traceId,
      spanId: id.slice(33),
      parentId: null,
      agent,
      agentVersion: version,
      service: 'bicycle-shop',
      userId: '',
      model: 'gpt-5-mini',
      status: 'ok',
      question,
      answer,
      startMs,
      endMs: settledMs,
      isComplete: true,
      toolCalls: calls.length,
      failedToolCalls: Number(isToolBroken),
      inputTokens: 900,
      outputTokens: 90,
      costUsd: null,
    }
    const content = { spans: readOtlpJson(otlp(spans, 'bicycle-shop'))?.spans ?? [], logs: [] }
    const contentIds = saveContent(database, traceId, content, settledMs)
    const seq = saveRun(database, summary, { text: question, contentIds, settledMs, revision: 4 }) ?? 0
    traits.save(seq, [
      { key: 'agent version', value: version },
      { key: 'tool called', value: tool },
      ...(isToolBroken ? [{ key: 'failed tool', value: 'refund_order' }] : []),
    ])
    if (isToolBroken && index % 2 === 0) saveSaid(database, disliked(id, settledMs), settledMs)
    saveScore(database, id, 'key', evaluation, JSON.stringify(evaluation))
  }
  database.exec('COMMIT')
  database.close()
}

function failed(value: number, isToolBroken: boolean): Evaluation['score'] {
  const reason = isToolBroken ? 'refund_order failed, so no money was sent.' : 'No call sent money.'
  return {
    status: 'scored',
    value,
    label: 'fail',
    explanation: `The answer claims a payment that did not happen: ${reason}`,
    findings: [
      {
        about: 'claim',
        verdict: 'not_stated',
        rating: 'bad',
        text: 'Your money is on its way.',
        reason,
        places: isToolBroken ? [{ in: 'result', index: 1 }] : [{ in: 'answer' }],
      },
    ],
  }
}

/** A thumb down. */
function disliked(runId: string, timeMs: number): SourceLog {
  const [traceId = '', spanId = ''] = runId.split(':')
  return {
    eventName: 'gen_ai.evaluation.result',
    traceId,
    spanId,
    timeMs,
    attributes: {
      'gen_ai.evaluation.name': 'thumbs',
      'gen_ai.evaluation.score.value': 0,
      'gen_ai.evaluation.score.label': 'fail',
      'gen_ai.evaluation.evaluator.type': 'user',
      'gen_ai.evaluation.explanation': 'No money came.',
    },
    scope: { name: 'shop' },
  }
}
