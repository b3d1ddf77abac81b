import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Browser, Page } from 'playwright-core'
import type { ScriptedOpenAIServer } from 'spanscore/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { chatRequests } from '../../../test/fixtures/chat.ts'
import type { ChatOptions, ChatTurn } from '../../../test/fixtures/chat.ts'
import { launch, seriousProblems } from './browser.ts'
import { sampleChats, startChatJudge } from './sample-chats.ts'
import { startService } from './service-process.ts'
import type { ServiceProcess } from './service-process.ts'

let folder: string
let judge: ScriptedOpenAIServer
let service: ServiceProcess
let browser: Browser
let page: Page
const complaints: string[] = []

const send = async (turns: readonly ChatTurn[], options: ChatOptions) => {
  for (const request of chatRequests(turns, { agent: 'support-agent', service: 'bicycle-shop', ...options })) {
    const response = await fetch(`${service.otlpUrl}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    })
    expect(response.status).toBe(200)
  }
}

const startMs = Date.now() - 600_000

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-page-'))
  judge = await startChatJudge()
  const config = join(import.meta.dirname, 'chats.config.mjs')
  service = await startService(folder, { TEST_JUDGE_URL: judge.url }, ['--config', config, '--idle', '3'])
  for (const [index, { id, turns }] of sampleChats.entries()) {
    await send(turns, { id, prefix: `c${index}`, startMs: startMs + index * 40_000, everyMs: 30_000 })
  }
  browser = await launch()
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  page = await context.newPage()
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  await page.goto(service.pageUrl)
})

afterAll(async () => {
  await browser?.close()
  await service?.[Symbol.asyncDispose]()
  await judge?.close()
  rmSync(folder, { recursive: true, force: true })
})

const open = async (path: string) => {
  await page.goto(service.origin + path)
  await page.locator('.bar').waitFor()
}
const row = (message: string) => page.locator('.run-row', { hasText: message })
const turn = (message: string) => page.locator('.turn.user', { hasText: message })

describe('conversations on the page', () => {
  it('are listed with the worst first, as their scores come in', async () => {
    await page.getByRole('link', { name: 'Conversations' }).click()
    await row('My new helmet').locator('.mark.fail', { hasText: 'user_friction' }).waitFor()
    await row('Which lock fits').locator('.mark.pass').waitFor()
    await expect.poll(() => page.locator('.run-row').first().innerText()).toContain('My new helmet')
    await expect.poll(() => page.locator('.run-row').last().innerText()).toContain('Which lock fits')
    expect(await row('My new helmet').innerText()).toContain('5 turns')
    await row('Lark Lane').getByText('the last run: waiting').waitFor({ state: 'attached' })
    expect(await seriousProblems(page)).toEqual([])
  })

  it('show that they went on, until they are scored again', async () => {
    const lock = sampleChats[1]
    const more = { user: 'One more thing: do you repair brakes?', answer: 'Yes, every day.' }
    const options = { id: lock?.id, prefix: 'c1', startMs: startMs + 40_000, everyMs: 30_000 }
    await open('/conversations?text=lock')
    await row('Which lock fits').click()
    await page.locator('aside .verdict').first().waitFor()
    await send([...(lock?.turns ?? []), more].slice(-4), options)
    await turn('do you repair brakes').waitFor()
    await page.getByText('It went on: 1 turn came after these scores.').waitFor()
    await page.getByText('It went on').waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
    await open('/conversations')
  })

  it('are filtered, and opened by keyboard', async () => {
    await page.getByLabel('Scorer').selectOption('abandoned')
    await page.getByLabel('Verdict').selectOption('fail')
    await expect.poll(() => page.locator('.run-row').allInnerTexts()).toEqual([expect.stringContaining('Lark Lane')])
    await page.locator('.list-head').click()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.locator('.run-facts').getByText('waiting').waitFor()
    await page.getByText('It waits for a tool or an approval.').waitFor()
    expect(await page.locator('.verdict', { hasText: 'abandoned' }).innerText()).toContain('The last run waits')
    await page.getByRole('link', { name: 'Conversations' }).last().click()
    await expect.poll(() => page.locator('.run-row').count()).toBe(1)
    await page.getByRole('link', { name: 'Clear' }).click()
    await expect.poll(() => page.locator('.run-row').count()).toBe(4)
  })

  it('show friction at the message that it concerns, and the reasons of all scores', async () => {
    await row('My new helmet').click()
    await turn('As I said').getByText('user_friction: repeats, gives the order number once more').waitFor()
    await turn('No, the helmet!').getByText('user_friction: corrects').waitFor()
    await turn('talk to a person').getByText('user_friction: gives up, asks for a person').waitFor()
    for (const calm of ['My new helmet', 'How long does the refund take?'])
      expect(await turn(calm).locator('.note').count()).toBe(0)
    expect(await page.locator('.turn.model .text').allInnerTexts()).toEqual(
      sampleChats[0]?.turns.map(({ answer }) => answer),
    )
    const verdict = (scorer: string) => page.locator('aside .verdict', { hasText: scorer })
    expect(await verdict('resolution').locator('.findings').innerText()).toContain('get the money for the helmet back')
    expect(await verdict('knowledge_retention').locator('.findings').innerText()).toContain('asked again')
    expect(await verdict('user_friction').locator('> .text').innerText()).toBe('Friction in 3 of 4 messages.')
    await page.locator('.called').getByText('refund_order').waitFor()
    expect(await seriousProblems(page)).toEqual([])
  })

  it('lead to their runs, which lead back, and show the scores of calls at the calls', async () => {
    await page.locator('.turn.model', { hasText: 'I have refunded' }).getByRole('link', { name: 'Run' }).click()
    const call = (name: string) => page.getByRole('region', { name: `Tool call ${name}` })
    await call('find_order').locator('.mark.pass', { hasText: '1' }).waitFor()
    expect(await call('find_order').locator('.call-scores').innerText()).toContain('find_order returned')
    expect(await call('refund_order').locator('.call-scores').innerText()).toContain('refund_order did not return')
    const verdict = page.locator('aside .verdict', { hasText: 'call_succeeds' })
    expect(await verdict.innerText()).toContain('(calls)')
    expect(await verdict.locator('> .text').innerText()).toBe('1 of 2 tool calls fails.')
    expect(await verdict.locator('.findings li').allInnerTexts()).toEqual([
      expect.stringMatching(/✓\s*find_order/),
      expect.stringMatching(/✗\s*refund_order/),
    ])
    expect(await seriousProblems(page)).toEqual([])
    const runId = `c0${'2'.padStart(30, '0')}:${'3'.padStart(16, 'a')}`
    const said = await fetch(`${service.otlpUrl}/v1/feedback`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ runId, name: 'thumbs', value: false, comment: 'it never came' }),
    })
    expect(said.status).toBe(200)
    await page.reload()
    await call('refund_order').getByText('it never came').waitFor()
    expect(await page.getByText('it never came').count()).toBe(1)
    await page.getByRole('link', { name: 'In a conversation of 5 turns' }).click()
    await turn('As I said').waitFor()
  })

  it('show the scores of retrievals at the retrievals', async () => {
    const searches = [['Brakes are repaired daily.', 'Chains are oiled.'], ['Closed on Sundays.']]
    await send([{ user: 'Do you repair a brake today?', answer: 'Yes.', searches }], { prefix: 'ee', startMs })
    await open('/runs?text=brake+today')
    await row('repair a brake').click()
    const search = page.locator('.turn', { has: page.locator('.call-scores') })
    await expect.poll(() => search.count()).toBe(2)
    expect(await search.locator('.call-scores').allInnerTexts()).toEqual([
      expect.stringMatching(/✓\s*1\s+found_two\s+2 documents/),
      expect.stringMatching(/✗\s*0\s+found_two\s+1 documents/),
    ])
    const verdict = page.locator('aside .verdict', { hasText: 'found_two' })
    expect(await verdict.locator('> .text').innerText()).toBe('1 of 2 retrievals fails.')
    expect(await page.getByText('In a conversation').count()).toBe(0)
    expect(await seriousProblems(page)).toEqual([])
  })

  it('mark a message that repeats an earlier one, besides its friction', async () => {
    await open('/conversations?text=Saturdays')
    await row('Saturdays').click()
    const again = turn('Saturdays? And on Sundays?')
    await again.getByText('repeated_question: repeats').waitFor()
    await again.getByText('user_friction: repeats, asks the same question').waitFor()
    expect(await page.locator('.turn.friction').count()).toBe(1)
  })

  it('have scores over time of their own, with what they count', async () => {
    await open('/scores?scorer=user_friction')
    await expect.poll(() => page.locator('.figures').innerText()).toMatch(/Scored conversations\s+4/)
    expect(await page.locator('select').first().innerText()).toContain('call_succeeds (calls)')
    await page.getByRole('link', { name: 'The worst conversations' }).click()
    await expect.poll(() => page.locator('.run-row').first().innerText()).toContain('My new helmet')
    for (const path of ['/', '/labels', '/try']) {
      await open(path)
      expect(await page.locator('form, .filters').first().innerText()).not.toContain('user_friction')
    }
  })

  it.each(['light', 'dark'] as const)('are accessible and fit 320 pixels, %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width: 320, height: 640 })
    await open('/conversations')
    await row('My new helmet').waitFor()
    const fits = () => page.evaluate<boolean>('document.documentElement.scrollWidth <= 320')
    expect({ fits: await fits(), problems: await seriousProblems(page) }).toEqual({ fits: true, problems: [] })
    await row('My new helmet').click()
    await page.locator('.turn.friction').first().waitFor()
    expect({ fits: await fits(), problems: await seriousProblems(page) }).toEqual({ fits: true, problems: [] })
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('show what a stranger writes as text only', async () => {
    const hostile = '<img src=x onerror="document.title=1"><script>alert(1)</script>\u202e reversed'
    await send([{ user: hostile, answer: hostile, tools: [{ name: hostile, fails: true }] }], {
      id: hostile,
      agent: hostile,
      prefix: 'ff',
      startMs,
    })
    await open('/conversations?text=reversed')
    await page.locator('.run-row').click()
    await page.locator('.turn.model').waitFor()
    expect(await page.locator('img, script:not([src])').count()).toBe(0)
    expect(await page.locator('.turn.user').innerText()).toContain('[U+202E] reversed')
    expect(complaints).toEqual([])
  })
})
