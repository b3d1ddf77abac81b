import type { Evaluation } from 'spanscore/engine'

import { openPageDatabase } from '../../src/page/store/page-database.ts'
import { saveRun, saveScore } from '../../src/page/store/run-writer.ts'

const HOUR_MS = 3_600_000

/** Stores a day of scored runs of three agents, one of which gets worse in the afternoon, as the page itself would have. */
export function saveDay(folder: string, nowMs: number): void {
  const database = openPageDatabase(folder)
  let seed = 7
  const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647
  const agents = [
    { agent: 'support-agent', failing: (hour: number) => (hour > 17 ? 0.5 : 0.14) },
    { agent: 'trip-agent', failing: () => 0.3 },
    { agent: 'weather-agent', failing: () => 0.04 },
  ]
  database.exec('BEGIN')
  for (let index = 0; index < 1500; index++) {
    const hour = (index / 1500) * 24
    const { agent, failing } = agents[index % agents.length] ?? { agent: '', failing: () => 0 }
    const settledMs = nowMs - 24 * HOUR_MS + hour * HOUR_MS
    const traceId = (index + 1).toString(16).padStart(32, '0')
    const id = `${traceId}:${traceId.slice(16)}`
    const value = random() < failing(hour) ? Math.round(random() * 6) / 10 : 1 - Math.round(random() * 2) / 10
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
      score: { status: 'scored', value, label: value >= 0.7 ? 'pass' : 'fail' },
    }
    const summary = {
      id,
      traceId,
      spanId: traceId.slice(16),
      parentId: null,
      agent,
      agentVersion: hour > 17 ? '1.5.0' : '1.4.0',
      service: 'bicycle-shop',
      userId: '',
      model: 'gpt-5-mini',
      status: 'ok',
      question: `Question ${index}`,
      answer: 'An answer.',
      startMs: settledMs - 3000,
      endMs: settledMs,
      isComplete: true,
      toolCalls: 1,
      failedToolCalls: 0,
      inputTokens: 900,
      outputTokens: 90,
      costUsd: null,
    }
    saveRun(database, summary, { text: summary.question, contentIds: [], settledMs, revision: 4 })
    saveScore(database, id, 'key', evaluation, JSON.stringify(evaluation))
  }
  database.exec('COMMIT')
  database.close()
}
