import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import type { Browser, Page } from 'playwright-core'
import { labelSchema } from 'spanscore/engine'
import type { ScriptedOpenAIServer } from 'spanscore/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { launch, picture, seriousProblems } from './browser.ts'
import { startJudge } from './judge.ts'
import { record } from './made-run.ts'
import { betterRuns, everydayRuns, failedRefund, hostile, plannedTrip } from './sample-runs.ts'
import { main, startService } from './service-process.ts'
import type { ServiceProcess } from './service-process.ts'

const config = join(import.meta.dirname, 'spanscore.config.mjs')
let folder: string
let judge: ScriptedOpenAIServer
let service: ServiceProcess
let browser: Browser
let page: Page
/** Errors of the page, and requests that were refused. */
let complaints: string[]
/** Requests to any other origin. */
let strangers: string[]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-page-'))
  judge = await startJudge()
  service = await startService(folder, { TEST_JUDGE_URL: judge.url }, [
    '--config',
    config,
    '--jaeger',
    'http://localhost:16686',
  ])
  browser = await launch()
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true })
  page = await context.newPage()
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(service.origin) && !url.startsWith('blob:')) strangers.push(url)
  })
})

afterAll(async () => {
  await browser?.close()
  await service?.[Symbol.asyncDispose]()
  await judge?.close()
  rmSync(folder, { recursive: true, force: true })
})

beforeEach(() => {
  complaints = []
  strangers = []
})

const open = async (path: string) => {
  await page.goto(service.origin + path)
  await page.locator('.bar').waitFor()
}

const row = (question: string) => page.locator('.run-row', { hasText: question }).first()

/** The spans of a run about a short question. */
const bell = (question: string) => record({ agent: 'bell-agent', question, answer: 'Yes.' }, Date.now() - 2000).spans

describe('the page', () => {
  it('admits nobody without the token, and removes it from the address', async () => {
    await page.goto(service.origin)
    await page.getByText('This page is closed').waitFor()
    complaints = []
    const command = [main, 'page-address', '--data', folder]
    const { stdout: address } = await promisify(execFile)(process.execPath, command)
    expect(address).toBe(`${service.pageUrl}\n`)
    await page.goto(address.trim())
    await page.reload()
    await page.getByText('Waiting for the first run').waitFor()
    expect(page.url()).toBe(`${service.origin}/`)
  })

  it('explains how to send spans, and shows an example on click', async () => {
    expect(await seriousProblems(page)).toEqual([])
    expect(await page.locator('.sample pre').innerText()).toContain(service.otlpUrl)
    for (const way of ['Python', 'curl']) {
      await page.getByRole('tab', { name: way }).click()
      expect(await page.locator('.sample pre').innerText()).toContain(service.otlpUrl)
    }
    await page.getByRole('button', { name: 'Show a recorded example run' }).click()
    await page.locator('.verdict').first().waitFor()
    expect(await page.locator('.nested').count()).toBeGreaterThan(0)
    await page.getByText('example: deleted with the first run of yours').waitFor()
    expect(complaints).toEqual([])
  })

  it('shows a run in progress, and its scores when it has ended', async () => {
    await open('/runs')
    for (let round = 0; round < 3; round++) {
      const question = `Is bell number ${round} loud?`
      const run = record({ agent: 'bell-agent', question, answer: 'Yes.' }, Date.now() - 1000)
      await service.send(run.spans.slice(0, 1))
      await row(question).filter({ hasText: 'in progress' }).waitFor()
      await service.send(run.spans.slice(1))
      await row(question).locator('.mark.pass').waitFor()
      expect(await row(question).innerText()).not.toContain('in progress')
    }
    expect(await page.locator('.run-row').count()).toBe(3)
    await open('/setup')
    await page.getByRole('heading', { name: 'How to send spans' }).waitFor()
    await open('/runs')
  })

  it('lists runs with their scores as marks', async () => {
    for (const run of [...everydayRuns('1.4.0', 'gpt-5-mini'), ...betterRuns('1.5.0', 'gpt-5')]) {
      await service.send(record(run, Date.now() - 9000).spans)
    }
    await service.send(record(plannedTrip, Date.now() - 8000).spans)
    await service.send(record(failedRefund, Date.now() - 6000).spans)
    await row('It arrived broken').locator('.mark.fail', { hasText: 'faithfulness' }).waitFor()
    await row('Should I ride').locator('.mark.fail', { hasText: 'faithfulness' }).waitFor()
    expect(await row('It arrived broken').innerText()).toContain('+2')
    await picture(page, 'runs')
    expect(await seriousProblems(page)).toEqual([])
  })

  it('finds the worst run of an agent by keyboard alone', async () => {
    await open('/runs')
    await page.locator('.run-row').first().waitFor()
    await page.getByLabel('Agent').selectOption('support-agent')
    await page.getByLabel('Order').selectOption('worst')
    await expect.poll(() => page.locator('.run-row').first().innerText()).toContain('It arrived broken')
    await page.getByLabel('Scorer').selectOption('faithfulness')
    await page.getByLabel('Verdict').selectOption('fail')
    await expect.poll(() => page.locator('.run-row').first().innerText()).toContain('It arrived broken')
    await expect.poll(() => page.locator('.run-row', { hasText: 'Where is my order' }).count()).toBe(0)
    await page.locator('body').click({ position: { x: 5, y: 400 } })
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /It arrived broken/, level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Runs' }).last().click()
    await page.locator('.run-row').first().waitFor()
    expect(await page.getByLabel('Order').inputValue()).toBe('worst')
  })

  it('reports that the service is unavailable, keeps what it shows, and continues when the service is back', async () => {
    const place = mkdtempSync(join(tmpdir(), 'spanscore-page-'))
    const first = await startService(place, { TEST_JUDGE_URL: judge.url })
    const tab = await page.context().newPage()
    const question = (text: string) => tab.locator('.run-row', { hasText: text })
    await first.send(bell('Is anybody here?'))
    await tab.goto(first.pageUrl)
    await tab.goto(`${first.origin}/runs`)
    await question('Is anybody here?').waitFor()
    first.signal('SIGSTOP')
    await tab.getByText('The service does not answer').waitFor()
    first.signal('SIGCONT')
    await tab.getByText('Live', { exact: true }).waitFor()
    await first[Symbol.asyncDispose]()
    await tab.getByText('The service does not answer').waitFor()
    expect(await question('Is anybody here?').count()).toBe(1)
    const port = new URL(first.origin).port
    const second = await startService(place, { TEST_JUDGE_URL: judge.url }, ['--page-port', port])
    await tab.getByText('Live', { exact: true }).waitFor()
    await second.send(bell('Is somebody back?'))
    await question('Is somebody back?').waitFor()
    expect(await question('Is anybody here?').count()).toBe(1)
    await tab.close()
    await second[Symbol.asyncDispose]()
    rmSync(place, { recursive: true, force: true })
  })

  it('names a judge on Now whose model refuses its key', async () => {
    const model = createServer((request, response) => {
      request.resume().once('end', () => response.writeHead(401).end('{}'))
    })
    model.listen(0, '127.0.0.1')
    await once(model, 'listening')
    const url = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`
    const place = mkdtempSync(join(tmpdir(), 'spanscore-page-'))
    const refused = await startService(place, { TEST_JUDGE_URL: url }, ['--config', config])
    const tab = await page.context().newPage()
    await refused.send(record(failedRefund, Date.now() - 6000).spans)
    await tab.goto(refused.pageUrl)
    const problems = () => tab.locator('.problem').allInnerTexts()
    await expect.poll(problems).toContainEqual(expect.stringMatching(/^▲ faithfulness: .*401/))
    await tab.getByRole('heading', { name: /not all is known: .* gave no score of .*: judge-auth/i }).waitFor()
    await tab.close()
    await refused[Symbol.asyncDispose]()
    model.closeAllConnections()
    model.close()
    rmSync(place, { recursive: true, force: true })
  })

  it('closes if its token is no longer valid, and opens again with the address that holds the token', async () => {
    await open('/runs')
    await page.evaluate(`localStorage.setItem('spanscore-token', 'another')`)
    await page.getByRole('link', { name: 'Scores' }).click()
    await page.reload()
    await page.getByText('This page is closed').waitFor()
    await page.goto('about:blank')
    await page.goto(service.pageUrl)
    await page.locator('.agents').waitFor()
    expect(complaints.splice(0).filter((each) => !each.includes('401'))).toEqual([])
  })

  it('explains the keys', async () => {
    await open('/runs')
    await page.locator('.run-row').first().waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    expect(await page.getByRole('dialog').innerText()).toContain('next run')
    expect(await seriousProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' })
  })

  it('finds runs by their text', async () => {
    await open('/runs')
    await page.locator('.run-row').first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('bergen no dat')
    await expect.poll(() => page.locator('.run-row').count()).toBe(1)
    expect(await page.locator('.run-row').innerText()).toContain('Should I ride')
    await page.getByRole('searchbox').fill('nobody ever said this')
    await page.getByText('No run fits these filters').waitFor()
  })

  it('shows the course of a run, and the reasons for its scores', async () => {
    await open('/runs?text=A-404')
    await row('It arrived broken').click()
    await page.locator('.conversation').first().waitFor()
    expect(await page.locator('.run-facts').innerText()).toMatch(/✗ 3 of \d+ fail/)
    const tool = page.getByRole('region', { name: 'Tool call refund_order, failed' })
    expect(await tool.innerText()).toContain('order A-404 was refunded before')
    expect(await tool.locator('mark.evidence.bad').innerText()).toContain('amount must be number')
    expect(await page.locator('.turn.answer mark.evidence.bad').allInnerTexts()).toEqual([
      expect.stringContaining('I have refunded 89.90 EUR to your card.'),
      expect.stringContaining('The money arrives within two days.'),
    ])
    expect(await page.locator('.turn.user mark').count()).toBe(0)
    await page.locator('.verdict', { hasText: 'tool_errors' }).getByLabel('lower is better').waitFor()
    const verdict = page.locator('.verdict').first()
    expect(await verdict.innerText()).toContain('faithfulness')
    expect(await verdict.locator('> .text').innerText()).toBe('Of 3 claims: 1 supported, 2 not stated.')
    await verdict.getByText('The whole explanation').click()
    await verdict.getByText('not stated: The money arrives within two days').waitFor()
    await verdict.getByText('The whole explanation').click()
    expect(await page.getByText('History: 2 earlier messages').count()).toBe(1)
    expect(await page.getByRole('link', { name: 'Open in Jaeger' }).getAttribute('href')).toMatch(
      /^http:\/\/localhost:16686\/trace\/[0-9a-f]{32}\?uiFind=[0-9a-f]{16}$/,
    )
    await picture(page, 'run')
    expect(await seriousProblems(page)).toEqual([])
    await page.getByText('Raw spans').click()
    await expect.poll(() => page.locator('.span').count()).toBe(6)
    expect(complaints).toEqual([])
  })

  it('shows agents that a run started in their place, with their failures', async () => {
    await open('/runs?text=Bergen')
    await row('Should I ride').click()
    const nested = page.locator('.tool', { hasText: 'ask_weather_agent' }).locator('.nested')
    await nested.waitFor()
    expect(await nested.innerText()).toContain('weather-agent')
    expect(await nested.getByRole('region', { name: 'Tool call get_forecast, failed' }).innerText()).toContain(
      'timeout after 300 ms',
    )
    expect(await page.locator('.missing').innerText()).toContain('availableTools')
    await picture(page, 'nested-run')
    expect(await seriousProblems(page)).toEqual([])
  })

  it('shows scores over time with intervals, point by point, and opens the runs of a point', async () => {
    await open('/scores?scorer=faithfulness')
    await page.locator('.chart canvas').waitFor()
    expect(await page.locator('.figures').innerText()).toMatch(/Mean position\s+0\.\d{3}/)
    expect(await page.getByRole('row', { name: /support-agent/ }).innerText()).toMatch(/\d+ % – \d+ %/)
    expect(await seriousProblems(page)).toEqual([])
    const chart = page.getByRole('img', { name: /over time/ })
    await chart.focus()
    const nextPoint = async () => {
      await page.keyboard.press('ArrowLeft')
      return page.locator('.chart figcaption').innerText()
    }
    await expect.poll(nextPoint).toMatch(/support-agent: .*of \d+ runs?/s)
    await page.getByText('All points as a table').click()
    await page.getByRole('region', { name: 'Points of the chart' }).waitFor()
    expect(await seriousProblems(page)).toEqual([])
    await chart.focus()
    await page.keyboard.press('Enter')
    await page.locator('.run-row').first().waitFor()
    expect(page.url()).toMatch(/\/runs\?.*from=\d+/)
    expect(complaints).toEqual([])
  })

  it('says why runs fail, and leads to them', async () => {
    await open('/why?scorer=faithfulness')
    await page.getByRole('heading', { name: 'What the failing runs have in common' }).waitFor()
    await page.getByText('Too few failing runs to say').waitFor()
    expect(await seriousProblems(page)).toEqual([])
    await page.getByRole('link', { name: 'The failing runs' }).click()
    await row('It arrived broken').waitFor()
    await open('/runs?trait=failed+tool+%3D+refund_order')
    await row('It arrived broken').waitFor()
    await expect.poll(() => page.locator('.run-row').count()).toBe(1)
    await page.getByRole('link', { name: 'Scores' }).click()
    await page.getByRole('button', { name: 'failed tool = refund_order' }).click()
    await page.getByRole('row', { name: /trip-agent/ }).waitFor()
    expect(complaints).toEqual([])
  })

  it('opens scores and comparison on the scorer that fails most, and on sides that have scores', async () => {
    await open('/scores')
    await page.locator('.figures').waitFor()
    const scorer = await page.locator('select').first().inputValue()
    expect(await page.locator('.figures').innerText()).not.toContain('Failing\n0 %')
    const why = page.getByRole('link', { name: 'Why', exact: true })
    expect(new URL((await why.getAttribute('href'))!, page.url()).searchParams.get('scorer')).toBe(scorer)
    await open('/compare?from=1&to=2')
    await page.locator('.difference').waitFor()
    expect(await page.locator('select').first().inputValue()).toBe(scorer)
    await page.getByLabel('Compare').selectOption('time')
    await page.getByRole('row', { name: 'Before: earlier half' }).waitFor()
    await page.locator('.difference').waitFor()
  })

  it('works in eight tabs at once', async () => {
    const tabs = await Promise.all(Array.from({ length: 8 }, () => page.context().newPage()))
    await Promise.all(tabs.map((tab) => tab.goto(`${service.origin}/runs`)))
    for (const tab of tabs) await tab.locator('.run-row').first().waitFor()
    await tabs[0]!.bringToFront()
    await tabs[0]!.locator('.run-row').first().click()
    await tabs[0]!.locator('.conversation').first().waitFor()
    expect(await tabs[7]!.locator('.run-row').count()).toBeGreaterThan(5)
    await Promise.all(tabs.map((tab) => tab.close()))
  })

  it('asks somebody with a link and without a token for it, and then shows what was linked', async () => {
    const context = await browser.newContext()
    const tab = await context.newPage()
    const [refund] = (await service.read<{ runs: { id: string }[] }>('/api/runs?text=A-404')).runs
    await tab.goto(`${service.origin}/runs/${encodeURIComponent(refund!.id)}`)
    await tab.getByText('page-token').waitFor()
    expect(await seriousProblems(tab)).toEqual([])
    await tab.getByLabel('Token').fill(service.token)
    await tab.getByRole('button', { name: 'Open' }).click()
    await tab.locator('.conversation').first().waitFor()
    expect(tab.url()).toContain('/runs/')
    await context.close()
  })

  it('compares two versions, and names the runs that changed', async () => {
    await open('/compare?scorer=faithfulness&agent=support-agent')
    await page.locator('.difference').waitFor()
    expect(await page.locator('.changed').innerText()).toContain('Is the lock in order F-318 in stock?')
    expect(await page.getByRole('heading', { name: /faithfulness fails/ }).innerText()).toMatch(
      /95 % interval [+−±][\d.]+ points to [+−±][\d.]+ points/,
    )
    await picture(page, 'compare')
    expect(await seriousProblems(page)).toEqual([])
  })

  it('takes ten labels by keyboard, hides the verdict until then, and writes a file for calibration', async () => {
    await open('/labels?scorer=faithfulness')
    await page.getByLabel('Your name').fill('ada')
    await page.getByRole('button', { name: 'Draw' }).click()
    await page.locator('.labelling .conversation').first().waitFor()
    expect(await page.locator('.labelling').innerText()).not.toMatch(/not stated|0\.50/)
    expect(await page.locator('.labelling').innerText()).toContain(
      'that tool results, retrieved documents and context support',
    )
    await picture(page, 'labels')
    expect(await seriousProblems(page)).toEqual([])
    await page.locator('h1').click()
    for (let round = 0; round < 10; round++) {
      await page.getByText(`${round} of 10 labelled`).waitFor()
      await page.locator('.label-bar button.pass:enabled').waitFor()
      if (round === 0) {
        await page.keyboard.press('n')
        await page.keyboard.type('says more than the tools')
        await page.keyboard.press('Escape')
      }
      await page.keyboard.press(round % 2 === 0 ? 'f' : 'p')
      await page.locator('.labelling .verdict').waitFor()
      await page.keyboard.press('Enter')
      await page.locator('.labelling .verdict').waitFor({ state: 'detached' })
    }
    await page.getByText('All that was drawn is labelled').waitFor()
    await page.getByText(/faithfulness agrees with people on/).waitFor()
    await picture(page, 'agreement')
    expect(await seriousProblems(page)).toEqual([])
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export labels' }).click(),
    ])
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n')
    const labels = lines.map((line) => labelSchema.parse(JSON.parse(line)))
    expect(labels).toHaveLength(10)
    expect(labels[0]).toMatchObject({ scorer: 'faithfulness', labeller: 'ada', judgeModel: 'gpt-5-mini' })
    expect(labels.filter(({ note }) => note === 'says more than the tools')).toHaveLength(1)
    expect(labels.every(({ drawProbability: p }) => typeof p === 'number' && p > 0 && p <= 1)).toBe(true)
  })

  it('hides the verdict on a drawn run from its page and the list, until somebody reveals it', async () => {
    // Another tab, opened before the draw, shows every verdict.
    const other = await page.context().newPage()
    await other.goto(`${service.origin}/runs?scorer=faithfulness&sort=worst`)
    await other.locator('.run-row').first().waitFor()
    const shown = await other.locator('.run-row').evaluateAll((rows) => rows.map((each) => each.getAttribute('href')))
    await open('/labels?scorer=faithfulness')
    const version = await page.getByLabel('Version').inputValue()
    const labels = `/api/labels?scorer=faithfulness&version=${version}&labeller=ada`
    let runId = ''
    for (;;) {
      await page.getByLabel(/How many of/).fill('1')
      await page.getByRole('button', { name: 'Draw' }).click()
      await page.getByText('10 of 11 labelled').waitFor()
      const [drawn] = (await service.read<{ waiting: { runId: string; agent: string }[] }>(labels)).waiting
      runId = drawn!.runId
      const isListed = shown.includes(`/runs/${encodeURIComponent(runId)}`)
      // Compare leaves it out, too, if it is of the agent whose versions are compared.
      if (isListed && drawn!.agent === 'support-agent') break
      // A nested agent was drawn. The list shows whole conversations, so it leaves nothing out.
      if (!isListed) await other.locator('.note').waitFor({ state: 'detached' })
      await page.getByText('End the draw').click()
      await page.getByRole('button', { name: 'Show the other 1' }).click()
      await page.getByText('All that was drawn is labelled').waitFor()
    }
    const place = `/runs/${encodeURIComponent(runId)}`
    await other.getByText('1 run was drawn to be labelled, and is left out until then.').waitFor()
    expect(await other.locator('.run-row').count()).toBe(shown.length - 1)
    expect(await other.locator(`.run-row[href="${place}"]`).count()).toBe(0)
    for (const path of ['/scores?scorer=faithfulness', '/compare?scorer=faithfulness']) {
      await open(path)
      await page.locator('.note').waitFor()
    }
    await open(`/try?scorer=faithfulness&runs=${encodeURIComponent(runId)}`)
    await page.getByRole('button', { name: 'Score again' }).click()
    await page.getByText('Hidden until you have labelled it').waitFor()
    await open('/runs')
    await page.locator(`.run-row[href="${place}"]`).getByText('faithfulness: to label').waitFor()
    await open(place)
    await page.getByText('faithfulness is hidden: this run was drawn to be labelled.').waitFor()
    expect(await page.locator('.verdict b', { hasText: 'faithfulness' }).count()).toBe(1)
    expect(await seriousProblems(page)).toEqual([])
    await page.getByRole('button', { name: 'Show and leave the draw' }).click()
    await page.locator('details.verdict', { hasText: 'faithfulness' }).waitFor()
    await other.locator('.note').waitFor({ state: 'detached' })
    expect(await other.locator('.run-row').count()).toBe(shown.length)
    await other.close()
    await open('/labels?scorer=faithfulness')
    await page.getByText('All that was drawn is labelled').waitFor()
  })

  it('scores runs again, with the cost in advance, and old and new scores side by side', async () => {
    await open('/try?scorer=faithfulness&agent=support-agent&count=5')
    await page.getByText(/5 runs, at most \d+ calls of openai\/gpt-5-mini, at most \$/).waitFor()
    await page.getByRole('button', { name: 'Score again' }).click()
    await expect.poll(() => page.locator('tbody tr td:nth-child(3) .mark').count()).toBe(5)
    expect(await page.locator('tbody tr').first().innerText()).toContain('not stated')
    await picture(page, 'try')
    expect(await seriousProblems(page)).toEqual([])
    await page.getByLabel('Cap, US dollars').fill('0')
    await page.getByRole('button', { name: 'Score again' }).click()
    await expect.poll(() => page.getByText('could have exceeded the cap').count()).toBe(5)
  })

  it('shows hostile text as text', async () => {
    const { runId, spans } = record(hostile, Date.now() - 3000)
    await service.send(spans)
    await open('/runs')
    await page.locator('.run-row', { hasText: 'document.title' }).locator('.mark.pass').waitFor()
    await open(`/runs/${encodeURIComponent(runId)}`)
    await page.getByText('javascript:alert(4)').waitFor()
    await page.getByText('Raw spans').click()
    for (const span of await page.locator('.span summary').all()) await span.click()
    expect(await page.locator('main :is(img, iframe, script, style, object, embed, video, link)').count()).toBe(0)
    const links = await page
      .locator('a')
      .evaluateAll((all) => all.map((each) => (each as unknown as { href: string }).href))
    expect(
      links.filter((href) => !href.startsWith(service.origin) && !href.startsWith('http://localhost:16686/')),
    ).toEqual([])
    expect(await page.title()).not.toBe('owned')
    await page.getByText('onerror=alert(5)').first().waitFor()
    const { scores } = await service.read<{ scores: { evaluation: { scorer: { id: string; version: string } } }[] }>(
      `/api/run?id=${encodeURIComponent(runId)}`,
    )
    for (const { evaluation } of scores) {
      const { id: scorer, version } = evaluation.scorer
      const note = '</textarea><script>alert(9)</script>'
      const label = { runId, scorer, version, label: 'fail', labeller: '<img src=x onerror=alert(10)>', note }
      const response = await fetch(`${service.origin}/api/labels`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${service.token}` },
        body: JSON.stringify(label),
      })
      expect(await response.json()).toEqual({})
    }
    const agent = encodeURIComponent(hostile.agent)
    for (const path of [
      '/scores?scorer=answer_present',
      `/scores?scorer=faithfulness&agent=${agent}`,
      `/compare?scorer=faithfulness&agent=${agent}`,
      '/labels?scorer=faithfulness',
      '/labels?scorer=<img src=x onerror=alert(11)>',
      '/runs?text=javascript',
      `/runs?agent=${agent}&scorer=<script>alert(12)</script>`,
      `/try?scorer=faithfulness&agent=${agent}`,
      `/runs/${encodeURIComponent(runId)}`,
    ]) {
      await open(path)
      await page.locator('main :is(h1, .empty)').first().waitFor({ state: 'attached' })
      await page.waitForLoadState('load')
      expect(await page.locator('main :is(img, iframe, script, style, object, embed, video, link)').count()).toBe(0)
    }
    expect(strangers).toEqual([])
    expect(complaints).toEqual([])
  })

  it.each(['light', 'dark'] as const)('is accessible and fits 320 pixels, %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme })
    const [refund] = (await service.read<{ runs: { id: string }[] }>('/api/runs?text=A-404')).runs
    const places = [
      '/',
      '/runs',
      '/why?scorer=faithfulness',
      `/runs/${encodeURIComponent(refund!.id)}`,
      '/scores',
      '/compare?scorer=faithfulness',
      '/labels?scorer=faithfulness',
      '/try',
    ]
    for (const path of places) {
      await page.setViewportSize({ width: 320, height: 640 })
      await open(path)
      await page.locator('main :is(h1, .empty)').first().waitFor({ state: 'attached' })
      await page.waitForLoadState('load')
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      expect({ path, fits: width <= 320, problems: await seriousProblems(page) }).toEqual({
        path,
        fits: true,
        problems: [],
      })
    }
    await page.setViewportSize({ width: 1280, height: 800 })
    await open(places[3]!)
    await page.locator('.conversation').first().waitFor()
    const background = await page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
    expect(background).toBe(colorScheme === 'dark' ? 'rgb(15, 17, 22)' : 'rgb(251, 251, 252)')
    expect(await seriousProblems(page)).toEqual([])
  })

  it('reports an address without a run or a view', async () => {
    for (const path of ['/runs/%2525', '/runs/__proto__', `/runs/${'x'.repeat(500)}`]) {
      await open(path)
      await page.getByText('This run is not here').waitFor()
    }
    for (const path of ['/nowhere', '/runs/%E0%A4%A', '/%']) {
      await open(path)
      await page.getByText('There is no such view').waitFor()
    }
    // The browser itself reports responses with status 404.
    expect(complaints.splice(0).filter((each) => !each.includes('404'))).toEqual([])
  })

  it('loads nothing from elsewhere, and has a strict content security policy', async () => {
    const response = await page.goto(service.origin)
    const policy = response?.headers()['content-security-policy'] ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('unsafe')
    expect(strangers).toEqual([])
  })
})
