import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { expect, it } from 'vitest'

import { launch, picture } from './browser.ts'

const root = join(import.meta.dirname, '../../..')

it('npm run demo -- --page shows who got worse and why, a conversation, and what its user says, and ends when it is interrupted', async () => {
  const child = spawn(process.execPath, ['examples/demo/main.ts', '--page'], {
    cwd: root,
    env: { ...process.env, OPENAI_API_KEY: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const address = await new Promise<URL>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /https?:\/\/\S+#token=\S+/.exec(line)?.[0]
      if (found !== undefined) resolve(new URL(found))
    })
    child.once('exit', () => reject(new Error('The demo ended.')))
  })
  const authorization = `Bearer ${address.hash.slice('#token='.length)}`
  const agents = async () => {
    const response = await fetch(`${address.origin}/api/runs`, { headers: { authorization } })
    const { runs } = (await response.json()) as { runs: { agent: string; scores: { label: string | null }[] }[] }
    const isScored = ({ scores }: (typeof runs)[number]) => scores.some(({ label }) => label !== null)
    return [...new Set(runs.filter(isScored).map(({ agent }) => agent))].toSorted()
  }
  await expect
    .poll(agents, { timeout: 40_000 })
    .toEqual(['parcel-agent', 'summary-agent', 'support-agent', 'trip-agent', 'weather-agent'])
  await look(address)
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGINT')
  expect(await ended).toBe(0)
})

async function look(address: URL): Promise<void> {
  const browser = await launch()
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.goto(address.href)
  await page.getByRole('heading', { name: /parcel-agent got worse about .*: tool_errors fails/ }).waitFor()
  await page.getByText('app.carrier = northpost').waitFor({ timeout: 60_000 })
  await page.getByText(/started by (another and is|others and are) not among the/).waitFor()
  await picture(page, 'now')
  await page.locator('.cell.worse').first().click()
  await page.getByRole('heading', { name: 'Why parcel-agent fails' }).waitFor()
  await page.locator('.common').getByText('northpost').first().waitFor()
  await page.locator('.chart canvas').waitFor()
  await picture(page, 'why')
  await page.goto(`${address.origin}/conversations`)
  const row = page.locator('.run-row', { hasText: 'My order never came' })
  await row.locator('.mark.fail', { hasText: 'user_friction' }).waitFor({ timeout: 30_000 })
  await row.click()
  await page.getByText('user_friction: gives up, asks for a person').waitFor()
  await page.getByText('It never listens.').waitFor()
  await picture(page, 'conversation')
  await page.goto(`${address.origin}/runs?feedback=disliked`)
  await page.locator('.run-row', { hasText: 'talk to a person' }).click()
  await page.getByText('It never listens.').first().waitFor()
  await picture(page, 'feedback')
  await browser.close()
}
