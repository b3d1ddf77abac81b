import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { dashboardFiles } from '../../scripts/dashboards/main.ts'
import { eventually } from '../../scripts/stack.ts'
import { startStack } from './stack.ts'
import type { EventRecord, Sample, Stack } from './stack.ts'

const root = resolve(import.meta.dirname, '../..')
const service = 'spanscore-demo'

/** Agent and scorer of an event or of a series. */
const eventKey = ({ attributes }: EventRecord) =>
  `${attributes['gen_ai.agent.name']?.stringValue} ${attributes['gen_ai.evaluation.name']?.stringValue}`
const seriesKey = ({ metric }: Sample) => `${metric['gen_ai_agent_name']} ${metric['gen_ai_evaluation_name']}`

function sumBy<T>(items: readonly T[], key: (item: T) => string, value: (item: T) => number): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const item of items) sums[key(item)] = (sums[key(item)] ?? 0) + value(item)
  return Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, Math.round(sum * 1e6) / 1e6]))
}

const number = (event: EventRecord, name: string) => Number(event.attributes[name]?.doubleValue)
/** The position of a score in its range, 0 to 1, inverted where lower is better. */
const position = (event: EventRecord) => {
  const share =
    (number(event, 'gen_ai.evaluation.score.value') - number(event, 'spanscore.score.min')) /
    (number(event, 'spanscore.score.max') - number(event, 'spanscore.score.min'))
  return event.attributes['spanscore.score.better']?.stringValue === 'lower' ? 1 - share : share
}
const scored = (event: EventRecord) => event.attributes['gen_ai.evaluation.score.value'] !== undefined

/** What the demo has no data for. */
const NOT_IN_DEMO: Readonly<Record<string, RegExp>> = {
  'conversations, which the service scores': /spanscore_conversations_total/,
  'a target of the mean: its target is a share of runs that pass': /spanscore:target_mean/,
  'two weeks from which the usual level is learnt': /spanscore:usual_/,
  'twenty scored runs of an agent in an hour': /spanscore:n:1h >= 20/,
}

describe.each([
  ['where each run has the weight 1', {}],
  ['where each run has the weight 4', { DEMO_TRACES_KEPT: '0.25' }],
])('the demo in the real stack, %s', (_name, environment) => {
  let stack: Stack
  let said: string

  beforeAll(async () => {
    // Recording rules of an hour run every second, over a minute.
    stack = await startStack({ timeScale: 60 })
    const { stdout } = await promisify(execFile)(process.execPath, ['examples/demo/main.ts'], {
      cwd: root,
      env: { ...process.env, OPENAI_API_KEY: '', OTEL_EXPORTER_OTLP_ENDPOINT: stack.otlpUrl, ...environment },
    })
    said = stdout
  }, 120_000)

  afterAll(() => stack.close())

  it('has its panels filled: every expression of every dashboard returns data', async () => {
    const values: Record<string, string> = { job: service, agent: 'weather-agent', scorer: 'prompt_alignment' }
    interface Dashboard {
      readonly panels: readonly { readonly title?: string; readonly targets?: readonly { readonly expr: string }[] }[]
    }
    // The demo has no workers on Kafka: the scale test looks at the panels of their dashboard.
    const shown = Object.entries(dashboardFiles).filter(([name]) => name !== 'workers.json')
    const asked = shown.flatMap(([name, text]) => {
      const { panels }: Dashboard = JSON.parse(text())
      return panels.flatMap(({ title, targets = [] }) =>
        targets.flatMap(({ expr }) => {
          if (Object.values(NOT_IN_DEMO).some((pattern) => pattern.test(expr))) return []
          const one = name === 'scorer.json'
          const expression = expr.replaceAll(/\$(job|agent|scorer)/g, (_, variable: string) =>
            one ? (values[variable] ?? '') : '.*',
          )
          return [{ panel: `${name}: ${title}`, expression }]
        }),
      )
    })
    expect(asked.length).toBeGreaterThan(20)
    const empty = await eventually('all panels have data', async () => {
      const answers = await Promise.all(asked.map(async ({ expression }) => (await stack.query(expression)).length))
      const none = asked.filter((_, index) => answers[index] === 0)
      if (none.length > 0) throw new Error(`empty: ${JSON.stringify(none, undefined, 1)}`)
      return none
    })
    expect(empty).toEqual([])
  })

  it('answers every PromQL expression of docs/viewing.md', async () => {
    const [, block = ''] = /```promql\n(.*?)```/s.exec(readFileSync(join(root, 'docs/viewing.md'), 'utf8')) ?? []
    const expressions = block.split(/\n(?![ ])/).filter((line) => line !== '' && !line.startsWith('#'))
    expect(expressions.length).toBeGreaterThan(6)
    const unanswered = await Promise.all(
      expressions.map(async (expression) => ((await stack.query(expression)).length === 0 ? [expression] : [])),
    )
    expect(unanswered.flat()).toEqual([])
  })

  it('shows failing runs in Jaeger: the agent’s own span is found by its label', async () => {
    const found = await eventually('the span', async () => {
      const spans = await stack.spansByTags(service, { 'spanscore.tool_call_accuracy.label': 'fail' })
      return spans.length > 0 && spans
    })
    for (const { tags } of found) {
      expect(tags).toContainEqual(expect.objectContaining({ key: 'gen_ai.agent.name', value: 'weather-agent' }))
      expect(tags).toContainEqual(expect.objectContaining({ key: 'spanscore.tool_call_accuracy.score', value: 0 }))
    }
  })

  it('keeps every evaluation event, with integer scores as doubles', async () => {
    const announced = Number(/(\d+) gen_ai\.evaluation\.result events/.exec(said)?.[1])
    const events = await eventually('the events', async () => stack.events().length === announced && stack.events())
    expect(events.every((event) => event.eventName === 'gen_ai.evaluation.result')).toBe(true)
    expect(
      events.filter(scored).map((event) => Object.keys(event.attributes['gen_ai.evaluation.score.value'] ?? {})),
    ).toEqual(events.filter(scored).map(() => ['doubleValue']))
  })

  it('counts in Prometheus what the events say: scores, their positions, and labels', async () => {
    // A score that changes is written as a second event, and not counted again.
    const firsts = new Map<string, EventRecord>()
    for (const event of stack.events().filter(scored)) {
      const score = `${event.traceId} ${event.spanId} ${eventKey(event)}`
      if (!firsts.has(score)) firsts.set(score, event)
    }
    const events = [...firsts.values()]
    const counted = async (expression: string) => sumBy(await stack.query(expression), seriesKey, ({ value }) => value)
    expect(await counted(`spanscore_score_count{job="${service}"}`)).toEqual(sumBy(events, eventKey, () => 1))
    expect(await counted(`spanscore_score_sum{job="${service}"}`)).toEqual(sumBy(events, eventKey, position))
    const weight = 1 / Number('DEMO_TRACES_KEPT' in environment ? environment.DEMO_TRACES_KEPT : 1)
    expect(
      await counted(`sum by (gen_ai_agent_name, gen_ai_evaluation_name) (spanscore_sum_w_total{job="${service}"})`),
    ).toEqual(sumBy(events, eventKey, () => weight))
    expect(
      await counted(`spanscore_evaluations_total{job="${service}", gen_ai_evaluation_score_label="fail"}`),
    ).toEqual(
      sumBy(
        events.filter((event) => event.attributes['gen_ai.evaluation.score.label']?.stringValue === 'fail'),
        eventKey,
        () => 1,
      ),
    )
  })
})
