import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../..')

it('npm run demo -- --page feeds the page, and ends when it is interrupted', async () => {
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
    .toEqual(['summary-agent', 'support-agent', 'trip-agent', 'weather-agent'])
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGINT')
  expect(await ended).toBe(0)
})
