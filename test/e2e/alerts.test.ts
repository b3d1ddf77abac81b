/**
 * A sustained drop at 5 % sampling plus all errors: the alert reaches a webhook, Slack and a mailbox through Alertmanager within its
 * stated time and resolves, and does not fire on the same traffic without the drop. Times are a sixtieth: the hour's window is a minute.
 */
import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { createScorer, createToolCallAccuracyScorerCode } from 'spanscore/scorers/prebuilt'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'

import { CHROMIUM, launch } from '../../server/test/browser/browser.ts'
import { startChannels } from './channels.ts'
import type { Channels } from './channels.ts'
import { startApplication } from './driver.ts'
import type { Application } from './driver.ts'
import { eventually } from '../../scripts/stack.ts'
import { startStack } from './stack.ts'
import type { PostedAlert, Stack } from './stack.ts'

const TIME_SCALE = 60
const MINUTE_MS = 60_000 / TIME_SCALE
const HOUR_MS = 60 * MINUTE_MS

const scorers = [
  createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' }),
  createScorer({
    id: 'right_tool',
    description: 'The same, by another scorer.',
    passAt: 0.5,
    version: 1,
  }).generateScore(({ run }) => (run.toolCalls.some(({ name }) => name === 'weather-tool') ? 1 : 0)),
  // Lower is better: a score near 0 is very good, and must cause no alert.
  createScorer({
    id: 'extra_tools',
    description: 'Tools called in vain.',
    better: 'lower',
    passAt: 0.3,
    version: 1,
  }).generateScore(({ run }) => (run.toolCalls.length > 1 ? 0.2 : 0.01)),
]

/** Every alert pages. */
const alerts = { target: 0.8, severity: 'page', drop: 'page' } as const

/** The traffic of one service: some runs have errors, and a share of the others call the wrong tool. */
class Traffic {
  readonly #application: Application
  readonly #timer: NodeJS.Timeout
  #count = 0
  /** How many of ten runs call the wrong tool. */
  wrongOfTen = 0

  constructor(service: string, otlpUrl: string) {
    this.#application = startApplication(service, otlpUrl, {
      scorers: scorers.map((scorer) => ({ scorer, alerts })),
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

/** Alertmanager's configuration with the receiver that collector-config/README.md shows, which gets pages. */
function withDocumentedReceiver(config: string, { slackUrl, smtp }: Channels): string {
  interface Config {
    readonly route: { readonly routes: object[] }
    readonly receivers: object[]
  }
  interface Documented {
    readonly receivers: readonly { readonly slack_configs: object[]; readonly email_configs: object[] }[]
  }
  const page = readFileSync(join(import.meta.dirname, '../../collector-config/README.md'), 'utf8')
  const { receivers }: Documented = parse(/```yaml\n(templates:.*?)```/s.exec(page)?.[1] ?? '')
  const { route, receivers: shipped, ...rest }: Config = parse(config)
  const far = { smarthost: smtp, from: 'alerts@example.com', require_tls: false }
  const onCall = receivers.map(({ slack_configs, email_configs }) => ({
    name: 'on-call',
    slack_configs: slack_configs.map((slack) => ({ ...slack, api_url_file: undefined, api_url: slackUrl })),
    email_configs: email_configs.map((email) => ({ ...email, ...far })),
  }))
  const routes = [
    ...route.routes,
    { receiver: 'on-call', matchers: ['severity = page'], continue: true },
    { receiver: 'webhook' },
  ]
  return stringify({ ...rest, route: { ...route, routes }, receivers: [...shipped, ...onCall] })
}

describe('alerts on alignment, at 5 % sampling plus all errors', () => {
  let channels: Channels
  let stack: Stack
  let dropping: Traffic
  let steady: Traffic

  beforeAll(async () => {
    channels = await startChannels()
    stack = await startStack({
      timeScale: TIME_SCALE,
      alertmanager: (config) => withDocumentedReceiver(config, channels),
    })
    dropping = new Traffic('dropping', stack.otlpUrl)
    steady = new Traffic('steady', stack.otlpUrl)
  })

  afterAll(async () => {
    await Promise.all([dropping.stop(), steady.stop()])
    await stack.close()
    channels.close()
  })

  const postedOf = (service: string, alertname?: string): PostedAlert[] =>
    stack.posted.filter(({ labels }) => labels['job'] === service && (!alertname || labels['alertname'] === alertname))

  it('stays silent while scores are good, for longer than the window', async () => {
    await delay(HOUR_MS + 20 * MINUTE_MS)
    expect(stack.posted).toEqual([])
    const [mean] = await stack.query('spanscore:mean:1h{job="dropping", gen_ai_evaluation_name="tool_call_accuracy"}')
    expect(mean?.value).toBeGreaterThan(0.95)
  })

  it('pages within the quarter hour of a drop that concerns every scorer', async () => {
    const droppedMs = Date.now()
    dropping.wrongOfTen = 7
    const page = await eventually('the page', async () => postedOf('dropping', 'SpanscoreBelowTarget')[0], HOUR_MS)
    expect(page.status).toBe('firing')
    expect(page.receivedMs - droppedMs).toBeLessThan(20 * MINUTE_MS)
    expect(page.labels).toMatchObject({ gen_ai_agent_name: 'weather-agent', severity: 'page' })
    expect(page.annotations['summary']).toMatch(
      /^weather-agent \(dropping\): \d+ % of \d+ runs fail \w+ since .+ \(target: at most 20 %\)\.$/,
    )
    expect(page.annotations['description']).toMatch(/^Likely the agent or what it depends on/)
    expect(page.annotations['runs_url']).toContain('service=dropping')
    await delay(20 * MINUTE_MS)
    // The scores of both scorers have fallen by now, and each is reported once.
    const [both] = await stack.query(
      'count(count by (gen_ai_evaluation_name) (spanscore:evidence:now{job="dropping", kind="target"} > 13))',
    )
    expect(both?.value).toBe(2)
    const firing = postedOf('dropping', 'SpanscoreBelowTarget').filter(({ status }) => status === 'firing')
    expect(new Set(firing.map(({ labels }) => labels['gen_ai_evaluation_name']))).toEqual(
      new Set(['tool_call_accuracy', 'right_tool']),
    )
    console.log(`paged after ${Math.round((page.receivedMs - droppedMs) / MINUTE_MS)} minutes of compressed time`)
  })

  const SUBJECT =
    /^\[page\] weather-agent \(dropping\): \d+ % of \d+ runs fail \w+ since .+ \(target: at most 20 %\)\.( And 1 more\.)?$/

  it('tells Slack what fell, since when, and what to open', async () => {
    const message = await eventually('the message', async () => channels.slack[0], HOUR_MS)
    expect(message.title).toMatch(SUBJECT)
    expect(message).toMatchObject({ color: 'danger', fallback: message.title })
    expect(message.text).toMatch(/Likely the agent or what it depends on.* For example traces/)
    expect(message.text).toMatch(
      /Service dropping · <http\S+service=dropping\S+\|Failing runs> · <http\S+var-agent=weather-agent\S+\|Dashboard>/,
    )
  })

  it.skipIf(!existsSync(CHROMIUM))('sends an e-mail that shows the same', async () => {
    const { subject, html } = await eventually('the e-mail', async () => channels.emails[0], HOUR_MS)
    expect(subject).toMatch(SUBJECT)
    const browser = await launch()
    try {
      const page = await browser.newPage({ viewport: { width: 390, height: 700 } })
      await page.setContent(html)
      if (process.env['SPANSCORE_E2E_KEEP']) {
        const path = join(tmpdir(), 'spanscore-email.png')
        await page.screenshot({ path, fullPage: true })
        console.log(`kept: ${path}`)
      }
      expect(await page.locator('h2').first().innerText()).toBe(
        subject.replace('[page] ', '').replace(/ And 1 more\.$/, ''),
      )
      expect(await page.locator('p').first().innerText()).toMatch(/^Likely the agent or what it depends on/)
      expect((await page.locator('a').allInnerTexts()).slice(0, 2)).toEqual(['Failing runs', 'Dashboard'])
      const width = await page.evaluate('document.documentElement.scrollWidth')
      expect(width, 'it fits a telephone').toBeLessThanOrEqual(390)
    } finally {
      await browser.close()
    }
  })

  it('stays silent about the scorer for which lower is better, and about the same traffic without the drop', () => {
    expect(JSON.stringify(stack.posted.filter(({ labels }) => labels['severity'] === 'page'))).not.toContain(
      'extra_tools',
    )
    expect(postedOf('steady').filter(({ labels }) => labels['severity'] === 'page')).toEqual([])
  })

  it('resolves when scores are good again', async () => {
    dropping.wrongOfTen = 0
    const resolved = await eventually(
      'the page resolved',
      async () => postedOf('dropping', 'SpanscoreBelowTarget').find(({ status }) => status === 'resolved'),
      6 * HOUR_MS,
    )
    expect(resolved.labels).toMatchObject({ gen_ai_agent_name: 'weather-agent' })
    expect(postedOf('steady').filter(({ labels }) => labels['severity'] === 'page')).toEqual([])
  })
})
