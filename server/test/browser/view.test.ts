import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { chatRequests } from '../../../test/fixtures/chat.ts'
import { launch, seriousProblems } from './browser.ts'

const root = join(import.meta.dirname, '../../..')
const cli = join(root, 'cli/dist/main.js')
const sample = join(root, 'cli/sample/traces.jsonl')
let folder: string
const children: ChildProcess[] = []
let url: URL
let browser: Browser
let page: Page
const complaints: string[] = []

/** Starts `spanscore view`, and returns the address that it prints. */
async function view(...files: readonly string[]): Promise<URL> {
  const child = spawn(process.execPath, [cli, 'view', ...files], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (text) => {
      const found = /http:\S+/.exec(String(text))?.[0]
      if (found !== undefined) resolve(new URL(found))
    })
    child.once('exit', () => reject(new Error('spanscore view ended.')))
  })
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-view-'))
  const scores = join(folder, 'scores.jsonl')
  const config = join(root, 'cli/sample/spanscore.config.mjs')
  spawnSync(process.execPath, [cli, 'score', sample, '--config', config, '--out', scores])
  url = await view(sample, scores)
  browser = await launch()
  page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage()
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
})

afterAll(async () => {
  await browser?.close()
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

const open = async (path: string) => {
  await page.goto(url.origin + path)
  await page.locator('.bar').waitFor()
}

describe('spanscore view', () => {
  it('shows the runs and scores of files in a browser', async () => {
    await page.goto(url.href)
    await page.getByRole('heading', { name: /in these files/ }).waitFor()
    await open('/runs')
    await expect.poll(() => page.locator('.run-row').count()).toBe(8)
    expect(await page.locator('.bar').innerText()).toContain('8 runs in')
    expect(await page.getByRole('link', { name: 'Labels' }).count()).toBe(0)
    await page.locator('.run-row', { hasText: 'A-404' }).click()
    await page.locator('.verdict', { hasText: 'tool_errors' }).getByText('lower is better').waitFor()
    await page.getByRole('region', { name: 'Tool call refund-tool, failed' }).waitFor()
    await open('/scores')
    expect(await page.locator('.figures').innerText()).toMatch(/Failing\s+50 %/)
    await open('/compare')
    await page.locator('.difference').waitFor()
    await open('/try?scorer=answer_present')
    await page.getByRole('button', { name: 'Score again' }).click()
    // A run has failed, and has nothing to score.
    await expect.poll(() => page.locator('tbody tr td:nth-child(3) .mark').count()).toBe(7)
    expect(complaints).toEqual([])
  })

  it('says that no scorer scores the conversations of files without such scores', async () => {
    const file = join(folder, 'chat.jsonl')
    const turns = [{ user: 'Is the shop open?', answer: 'Until six.' }]
    const requests = chatRequests(turns, { id: 'chat-1', agent: 'a', service: 's', prefix: 'c0', startMs: Date.now() })
    writeFileSync(file, requests.map((request) => JSON.stringify(request)).join('\n'))
    const other = await view(file)
    const tab = await page.context().newPage()
    await tab.goto(other.href)
    await tab.locator('.bar').waitFor()
    await tab.goto(`${other.origin}/conversations`)
    await tab.locator('.run-row', { hasText: 'Is the shop open?' }).waitFor()
    expect(await tab.locator('main').innerText()).toContain('No scorer scores conversations here')
    await tab.close()
  })

  it.each(['light', 'dark'] as const)('is accessible and fits 320 pixels, %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width: 320, height: 640 })
    for (const path of ['/', '/scores', '/compare', '/try']) {
      await open(path)
      await page.locator('main :is(h1, .empty)').first().waitFor({ state: 'attached' })
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      expect({ path, fits: width <= 320, problems: await seriousProblems(page) }).toEqual({
        path,
        fits: true,
        problems: [],
      })
    }
  })

  it('says on the page when it has ended, and ends at once', async () => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await open('/runs')
    await expect.poll(() => page.locator('.run-row').count()).toBe(8)
    const child = children[0]!
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGINT')
    expect(await ended).toBe(0)
    await page.getByText('spanscore view has ended').waitFor()
    expect(await page.locator('.run-row').count()).toBe(8)
  })

  it('shows no page if the files hold no run', () => {
    const file = join(folder, 'none.jsonl')
    writeFileSync(
      file,
      '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","name":"GET"}]}]}]}',
    )
    const { status, stderr } = spawnSync(process.execPath, [cli, 'view', file], { encoding: 'utf8' })
    expect(stderr).toContain('spanscore: no agent runs in 1 span')
    expect(status).toBe(2)
  })
})
