import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { launch, picture, seriousProblems } from './browser.ts'
import { record } from './made-run.ts'
import { startService } from './service-process.ts'
import type { ServiceProcess } from './service-process.ts'
import { saveDay } from './stored-day.ts'

const DESK = { width: 1280, height: 800 }

let folder: string
let service: ServiceProcess
let browser: Browser
let context: BrowserContext
let page: Page
/** How often somebody clicked since `now()`. */
let clicks: number

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-day-'))
  await saveDay(folder, Date.now())
  service = await startService(folder, {})
  browser = await launch()
  context = await browser.newContext({ viewport: DESK, permissions: ['clipboard-read', 'clipboard-write'] })
  page = await context.newPage()
  await page.goto(service.pageUrl)
  await page.locator('.agents').waitFor()
})

afterAll(async () => {
  await browser?.close()
  await service?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const open = async (path: string) => {
  await page.goto(service.origin + path)
  await page.locator('main :is(h1, .empty)').first().waitFor({ state: 'attached' })
}

const click = async (what: string | RegExp, role: 'link' | 'button' = 'link') => {
  await page.getByRole(role, { name: what }).first().click()
  clicks += 1
}

beforeEach(async () => {
  clicks = 0
  await open('/')
  await page.locator('.agents').waitFor()
})

const figure = (name: string) => page.locator('.figures div', { hasText: name }).getByRole('link')

describe('the page on the day on which an agent got worse', () => {
  it('opens on who got worse, since when and by what, and leads to the reasons', async () => {
    await page.getByRole('heading', { name: /support-agent got worse about .*: faithfulness fails \d+ %/ }).waitFor()
    await page.getByText('failed tool = refund_order').waitFor()
    await page.getByText('agent version = 1.5.0').waitFor()
    expect(await page.locator('.cell.worse').count()).toBe(3)
    // The period begins with a whole hour, in which there may be one attack more.
    expect(await page.locator('.now').innerText()).toMatch(/injection: 1[23] runs attacked, 1 obeyed/)
    expect(await page.getByRole('row', { name: /support-agent/ }).innerText()).toContain('$')
    await page.locator('.cell.worse').first().click()
    await page.getByRole('heading', { name: 'Why support-agent fails' }).waitFor()
    await page.locator('.common').getByRole('link', { name: 'failed tool = refund_order', exact: true }).waitFor()
    await page.getByRole('link', { name: 'agent version = 1.5.0' }).waitFor()
    await page.locator('.common').getByRole('link', { name: 'failed tool = refund_order', exact: true }).click()
    await page.getByRole('button', { name: /failed tool = refund_order/ }).waitFor()
    await page.locator('.run-row').first().waitFor()
    await open('/scores?scorer=faithfulness')
    await page.locator('.chart canvas').waitFor()
    await picture(page, 'scores')
  })

  it('leads to the worst runs of today with one click, and with the next to why one failed', async () => {
    await figure('Fail a scorer').click()
    clicks += 1
    await page.locator('.run-row .mark.fail', { hasText: '+1' }).first().waitFor()
    expect(new URL(page.url()).search).toContain('time=86400')
    expect(clicks).toBe(1)
    await page.locator('.run-row').first().click()
    clicks += 1
    await page.locator('.verdict', { hasText: 'faithfulness' }).getByText('refund_order failed').waitFor()
    const reason = page.locator('.turn.answer mark.evidence.bad')
    expect(await reason.innerText()).toContain('refund_order failed, so nothing was refunded')
    expect((await reason.boundingBox())!.y).toBeLessThan(DESK.height)
    expect(clicks).toBe(2)
  })

  it('says with one click that the new version is worse', async () => {
    await click('Compare')
    await page.getByText('1.5.0 fails more often than 1.4.0').waitFor()
    expect(await page.locator('.lead').innerText()).toMatch(/faithfulness/)
    expect(await page.locator('select').nth(1).inputValue()).toBe('support-agent')
    await page.getByText(/Users: .*0 of \d+ \(0 %\) before, .* after\. People who click are no sample/).waitFor()
    expect(clicks).toBe(1)
  })

  it('shows with one click what users disliked, with their words in the search', async () => {
    await figure('Users dislike').click()
    clicks += 1
    await page.locator('.run-row', { hasText: '👎' }).first().waitFor()
    expect(await page.locator('.run-row').first().locator('[title*="No money came"]').innerText()).toContain('No money')
    expect(await page.getByRole('button', { name: 'Ago' }).getAttribute('title')).toBe('last arrived first')
    expect(clicks).toBe(1)
    await open('/runs?text=nice+and+short')
    await expect.poll(() => page.locator('.fits').innerText()).toMatch(/^(?!0)\d+ runs of 3,000 fit/)
    await page.locator('.run-row', { hasText: '👍' }).first().waitFor()
  })

  it('opens a conversation with two clicks, with what users say under the answer', async () => {
    await click('Conversations')
    await page.locator('.run-row').first().click()
    clicks += 1
    await page.getByText('turn 3').waitFor()
    expect(clicks).toBe(2)
    await open('/runs?feedback=commented&scorer=tool_errors&label=fail')
    await page.locator('.run-row').first().click()
    await click('In a conversation of 3 turns')
    await page.getByLabel('What users say').getByText('No money came.').first().waitFor()
  })

  it('is shared with one click: the address shows the same to somebody else', async () => {
    await page.locator('.cell.worse').first().click()
    await page.getByRole('heading', { name: 'Why support-agent fails' }).waitFor()
    const other = await (await browser.newContext({ viewport: DESK })).newPage()
    await other.goto(page.url())
    await other.getByLabel('Token').fill(service.token)
    await other.getByRole('button', { name: 'Open' }).click()
    await other.getByRole('heading', { name: 'Why support-agent fails' }).waitFor()
    expect(other.url()).toBe(page.url())
    await other.context().close()
  })

  it('shows attacked runs: the text in the result, and the call that obeyed it', async () => {
    await page.getByRole('link', { name: '1 obeyed.' }).click()
    await expect.poll(() => page.locator('.run-row').count()).toBe(1)
    await page.getByRole('button', { name: /injection = attacked/ }).waitFor()
    await page.locator('.run-row').click()
    const read = page.getByRole('region', { name: 'Tool call read_page, returned' })
    expect(await read.locator('mark.evidence').innerText()).toMatch(/^Ignore your instructions/)
    await page
      .getByRole('region', { name: 'Tool call send_mail, returned' })
      .getByText('obeyed: it sent the mail')
      .waitFor()
  })

  it('leads from a reason to its place', async () => {
    await open('/runs?trait=failed+tool+%3D+refund_order&time=86400')
    await page.locator('.run-row').first().click()
    await page.getByRole('button', { name: 'refund_order', exact: true }).click()
    const tool = page.getByRole('region', { name: 'Tool call refund_order, failed' })
    await expect.poll(() => tool.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
    await page.getByRole('button', { name: 'Copy as a case' }).click()
    await page.getByText('Copied').waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(JSON.parse(copied)).toMatchObject({
      agent: 'support-agent',
      wrong: expect.arrayContaining([expect.objectContaining({ scorer: 'faithfulness', label: 'fail' })]),
    })
  })

  it('compares versions with enough runs, and shows why a tool failed if only its result says so', async () => {
    const calls = [
      { name: 'book', arguments: {}, result: 'Error: not enough seats on flight HAT139', error: 'tool error' },
    ]
    const run = { agent: 'support-agent', version: '1.6.0', question: 'Book it.', answer: 'No seats.', calls }
    const { runId, spans } = record(run, Date.now() - 2000)
    await service.send(spans)
    const scored = async () => (await service.read<{ scores?: unknown[] }>(`/api/run?id=${runId}`)).scores?.length
    await expect.poll(scored).toBeGreaterThan(0)
    await open(`/runs/${encodeURIComponent(runId)}`)
    const tool = page.getByRole('region', { name: 'Tool call book, failed' })
    await tool.getByText('Error: not enough seats on flight HAT139').waitFor()
    expect(await page.locator('.verdict', { hasText: 'tool_errors' }).innerText()).toContain('not enough seats')
    await open('/compare?scorer=tool_errors&agent=support-agent')
    await page.getByText('1.5.0 fails more often than 1.4.0').waitFor()
    expect(await page.getByRole('option', { name: '1.6.0 (1 run)' }).count()).toBe(2)
  })

  it('shows Markdown of answers, of which nothing loads or leads away, and the raw text on click', async () => {
    const answer = [
      '## Roads\n\nThe **fjord road** is `open`:\n\n1. Start in *Oslo*\n   - with a [map](https://strangers.example/map)\n2. ![a road](https://strangers.example/road.png)',
      '\n\n| Road | Open |\n|---|---|\n| E6 | yes |\n\n```\nride(now)\n```\n\n> <img src=x onerror=alert(1)>',
    ].join('')
    const { spans, runId } = record(
      { agent: 'road-agent', question: 'Which roads are open?', answer },
      Date.now() - 2000,
    )
    await service.send(spans)
    await expect.poll(async () => (await service.read<{ isOpen?: boolean }>(`/api/run?id=${runId}`)).isOpen).toBe(false)
    await open(`/runs/${encodeURIComponent(runId)}`)
    const shown = page.locator('.turn.answer .markdown')
    await shown.waitFor()
    expect(await shown.locator('ol > li').count()).toBe(2)
    expect(await shown.locator('ol > li ul > li').innerText()).toBe('with a [map](https://strangers.example/map)')
    expect(await shown.locator('td').allInnerTexts()).toEqual(['E6', 'yes'])
    expect(await shown.locator('b').allInnerTexts()).toEqual(['Roads', 'fjord road'])
    expect(await shown.locator('pre').innerText()).toBe('ride(now)')
    expect(await shown.locator('blockquote').innerText()).toBe('<img src=x onerror=alert(1)>')
    expect(await shown.locator('a, img').count()).toBe(0)
    expect(await seriousProblems(page)).toEqual([])
    await page.getByRole('button', { name: 'Raw text' }).click()
    expect(await page.locator('.turn.answer .text').innerText()).toBe(answer)
  })

  it('orders the list by its heads, and filters by duration and cost', async () => {
    await open('/runs')
    await page.getByRole('button', { name: 'Took' }).click()
    const took = async () =>
      (await page.locator('.run-row .took').allInnerTexts()).map((text) => Number.parseFloat(text))
    await expect.poll(async () => (await took())[0]).toBeGreaterThan(9)
    const first = await took()
    expect(first).toEqual(first.toSorted((left, right) => right - left))
    await page.getByLabel('Took, s or more').fill('9.9')
    await expect.poll(() => page.locator('.fits').innerText()).toMatch(/^\d+ runs of/)
    await page.getByRole('link', { name: 'Scores' }).click()
    await page.getByRole('button', { name: /took 9.9 s or more/ }).waitFor()
  })

  it('leads to runs that a judge passes and users dislike, and on to labels', async () => {
    await open('/runs')
    await click('Judge passes, users dislike')
    await page.getByRole('link', { name: 'Label runs' }).waitFor()
    const [search, list] = [new URL(page.url()).search, '/api/runs']
    const { runs } = await service.read<{ runs: { scores: { scorer: string; label: string }[] }[] }>(list + search)
    expect(runs.length).toBeGreaterThan(0)
    expect(
      runs.every(({ scores }) => scores.some(({ scorer, label }) => scorer === 'faithfulness' && label === 'pass')),
    ).toBe(true)
  })

  it('keeps rows where they are while the pointer is over them', async () => {
    await open('/runs')
    const top = page.locator('.run-row').first()
    const before = await top.getAttribute('href')
    await top.hover()
    await service.send(
      record({ agent: 'bell-agent', question: 'Is the bell new?', answer: 'Yes.' }, Date.now() - 900).spans,
    )
    await page.getByText('1 new run, shown when the pointer leaves the list').waitFor()
    expect(await top.getAttribute('href')).toBe(before)
    await page.mouse.move(5, 5)
    await page.locator('.run-row', { hasText: 'Is the bell new?' }).waitFor()
  })

  it.each([
    ['light', 1440],
    ['light', 1024],
    ['light', 390],
    ['dark', 1440],
    ['dark', 1024],
    ['dark', 390],
  ] as const)('is accessible and fits in each view, %s, %i pixels', async (colorScheme, width) => {
    const { runs } = await service.read<{ runs: { id: string }[] }>('/api/runs?sort=worst&trait=injection+%3D+attacked')
    const { conversations } = await service.read<{ conversations: { key: string }[] }>('/api/conversations')
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 800 })
    const places = [
      '/',
      '/why?scorer=faithfulness&agent=support-agent&time=86400',
      '/runs?scorer=faithfulness&label=pass&feedback=disliked',
      `/runs/${encodeURIComponent(runs[0]!.id)}`,
      '/conversations',
      `/conversations/${conversations[0]!.key}`,
      '/scores?scorer=faithfulness',
      '/compare',
      '/labels?scorer=faithfulness',
      '/try',
      '/setup',
    ]
    for (const path of places) {
      await open(path)
      await page.waitForLoadState('networkidle')
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
      expect({ path, wide, problems: await seriousProblems(page) }).toEqual({ path, wide: width, problems: [] })
    }
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize(DESK)
  })
})
