/**
 * A process that restarts every hour, of whose few runs a sixth fails: what Prometheus shows is the mean of all of them. Most
 * series of such a process live for an hour, and backends that lose the first value of each must not lose the failures with it.
 */
import { setTimeout as delay } from 'node:timers/promises'

import { createToolCallAccuracyScorerCode } from 'spanscore/scorers/prebuilt'
import { afterEach, expect, it } from 'vitest'

import { startApplication } from './driver.ts'
import { eventually } from '../../scripts/stack.ts'
import { startStack } from './stack.ts'
import type { Stack } from './stack.ts'

// Runs are two seconds apart at this scale: sums reach Prometheus between them, as between runs that are six minutes apart.
const TIME_SCALE = 180
const HOUR_MS = 3_600_000 / TIME_SCALE
const HOURS = 9
const RUNS_AN_HOUR = 10

const scorers = [createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' })]

/** Whether a run fails: a sixth of them, spread as evenly over the first runs of the hours as over all runs. */
const fails = (run: number) => (run * 0.618034 + 0.5) % 1 < 1 / 6

/** Starts processes one after another, and returns the mean of their runs. */
async function runForHours(service: string, otlpUrl: string, instanceOf: (hour: number) => string): Promise<number> {
  let passed = 0
  for (let hour = 0; hour < HOURS; hour += 1) {
    const resource = { 'service.instance.id': instanceOf(hour) }
    const application = startApplication(service, otlpUrl, { scorers }, resource)
    for (let index = 0; index < RUNS_AN_HOUR; index += 1) {
      const isBad = fails(hour * RUNS_AN_HOUR + index)
      application.run({ tools: [isBad ? 'search-tool' : 'weather-tool'] })
      if (!isBad) passed += 1
      await delay(HOUR_MS / RUNS_AN_HOUR)
    }
    await application.shutdown()
  }
  return passed / (HOURS * RUNS_AN_HOUR)
}

const stacks: Stack[] = []
afterEach(() => Promise.all(stacks.splice(0).map((stack) => stack.close())))

it('shows the mean of a process that restarts every hour and rarely fails, with and without flags of Prometheus', async () => {
  const kinds = [
    ['as it is shipped', ['created-timestamp-zero-ingestion', 'otlp-deltatocumulative']],
    ['without flags', ['otlp-deltatocumulative']],
  ] as const
  for (const [, prometheusFeatures] of kinds) {
    stacks.push(await startStack({ timeScale: TIME_SCALE, prometheusFeatures }))
  }
  const shown = await Promise.all(
    stacks.map(async (stack, index) => {
      const services = { 'one-series': () => 'process', 'a-series-each': (hour: number) => `process-${hour}` }
      return Promise.all(
        Object.entries(services).map(async ([service, instanceOf]) => {
          const truth = await runForHours(service, stack.otlpUrl, instanceOf)
          const last = `sum(spanscore_evaluations_total{job="${service}", instance="${instanceOf(HOURS - 1)}"})`
          await eventually('the last runs', async () => (await stack.query(last))[0]?.value === RUNS_AN_HOUR)
          // The rules of a day are evaluated every second here.
          await delay(5000)
          const [mean] = await stack.query(`spanscore:sum_wy:1d / spanscore:sum_w:1d{job="${service}"}`)
          const [accounted] = await stack.query(`spanscore:accounted:1d{job="${service}"}`)
          return { where: `${service}, ${kinds[index]?.[0]}`, truth, mean: mean?.value, accounted: accounted?.value }
        }),
      )
    }),
  )
  console.log(shown.flat())
  for (const { where, truth, mean, accounted } of shown.flat()) {
    expect(Math.abs((mean ?? Number.NaN) - truth), `${where}: ${mean} for ${truth}`).toBeLessThanOrEqual(0.02)
    expect(accounted).toBeGreaterThanOrEqual(0.95)
  }
})
