/**
 * A sustained drop at 5 % sampling plus all errors: the alert reaches a webhook through Alertmanager within its stated time and
 * resolves, and does not fire on the same traffic without the drop. Times are a sixtieth: the hour's window is a minute.
 */
import { setTimeout as delay } from 'node:timers/promises'

import { createScorer, createToolCallAccuracyScorerCode } from 'spanscore/scorers/prebuilt'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { startApplication } from './driver.ts'
import type { Application } from './driver.ts'
import { eventually, startStack } from './stack.ts'
import type { PostedAlert, Stack } from './stack.ts'

const TIME_SCALE = 60
const MINUTE_MS = 60_000 / TIME_SCALE
const HOUR_MS = 60 * MINUTE_MS

const scorers = [
  createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' }),
  // Lower is better: nearly nothing is a very good score, and must alarm nobody.
  createScorer({
    id: 'extra_tools',
    description: 'Tools called in vain.',
    better: 'lower',
    passAt: 0.3,
    version: 1,
  }).generateScore(({ run }) => (run.toolCalls.length > 1 ? 0.2 : 0.01)),
]

/** The traffic of one service: runs with errors in them, the wrong tool in a share of the others. */
class Traffic {
  readonly #application: Application
  readonly #timer: NodeJS.Timeout
  #count = 0
  /** Of ten runs, those with the wrong tool. */
  wrongOfTen = 0

  constructor(service: string, otlpUrl: string) {
    this.#application = startApplication(service, otlpUrl, {
      scorers,
      sample: (run) => (run.status === 'error' ? 1 : 0.05),
    })
    this.#timer = setInterval(() => this.#tick(), 100)
  }

  /** 100 runs a second, of which two fail: about seven are scored. */
  #tick(): void {
    for (let run = 0; run < 10; run++) {
      this.#count++
      const fails = this.#count % 50 === 0
      const wrong = this.#count % 10 < this.wrongOfTen
      this.#application.run({ tools: [wrong ? 'search-tool' : 'weather-tool'], fails })
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#application.shutdown()
  }
}

describe('alerts on alignment, at 5 % sampling plus all errors', () => {
  let stack: Stack
  let dropping: Traffic
  let steady: Traffic

  beforeAll(async () => {
    stack = await startStack({ timeScale: TIME_SCALE })
    dropping = new Traffic('dropping', stack.otlpUrl)
    steady = new Traffic('steady', stack.otlpUrl)
  })

  afterAll(async () => {
    await Promise.all([dropping.stop(), steady.stop()])
    await stack.close()
  })

  const postedOf = (service: string, alertname?: string): PostedAlert[] =>
    stack.posted.filter(({ labels }) => labels['job'] === service && (!alertname || labels['alertname'] === alertname))

  it('stays silent while scores are good, for longer than the window', async () => {
    await delay(HOUR_MS + 20 * MINUTE_MS)
    expect(stack.posted).toEqual([])
    const [mean] = await stack.query('spanscore:mean:1h{job="dropping", gen_ai_evaluation_name="tool_call_accuracy"}')
    expect(mean?.value).toBeGreaterThan(0.95)
  })

  it('fires within its stated time of a drop: wrong tools in 20 minutes, the mean within the hour', async () => {
    const droppedMs = Date.now()
    dropping.wrongOfTen = 5
    const tools = await eventually(
      'the tools alert',
      async () => postedOf('dropping', 'SpanscoreToolCallsWrong')[0],
      HOUR_MS,
    )
    expect(tools.status).toBe('firing')
    expect(tools.receivedMs - droppedMs).toBeLessThan(20 * MINUTE_MS)
    const mean = await eventually(
      'the mean alert',
      async () => postedOf('dropping', 'SpanscoreMeanBelowTarget')[0],
      2 * HOUR_MS,
    )
    expect(mean.receivedMs - droppedMs).toBeLessThan(HOUR_MS)
    expect(mean.labels).toMatchObject({
      gen_ai_agent_name: 'weather-agent',
      gen_ai_evaluation_name: 'tool_call_accuracy',
    })
    expect(mean.annotations['summary']).toBe('tool_call_accuracy of weather-agent is below its target')
    console.log(
      `fired after ${Math.round((tools.receivedMs - droppedMs) / MINUTE_MS)} (tools) and ${Math.round((mean.receivedMs - droppedMs) / MINUTE_MS)} (mean) minutes of compressed time`,
    )
  })

  it('says nothing of the scorer where lower is better, nor of the same traffic without the drop', () => {
    expect(stack.posted.filter(({ labels }) => labels['gen_ai_evaluation_name'] === 'extra_tools')).toEqual([])
    expect(postedOf('steady')).toEqual([])
  })

  it('resolves when scores are good again', async () => {
    dropping.wrongOfTen = 0
    const resolved = await eventually(
      'the mean alert resolved',
      async () => postedOf('dropping', 'SpanscoreMeanBelowTarget').find(({ status }) => status === 'resolved'),
      3 * HOUR_MS,
    )
    expect(resolved.labels).toMatchObject({ gen_ai_evaluation_name: 'tool_call_accuracy' })
    expect(postedOf('steady')).toEqual([])
  })
})
