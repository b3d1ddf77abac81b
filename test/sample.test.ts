import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'
import { promisify } from 'node:util'

import { describe, expect, it } from 'vitest'

import { runCommand } from './fixtures/run-command.ts'

const traces = 'cli/sample/traces.jsonl'

describe('The sample of the package', () => {
  it('has runs that are whole, a wrong tool, an invented answer, a failed tool and an outage', async () => {
    const { stdout, code } = await runCommand(['inspect', traces, '--json'])
    expect(code).toBe(0)
    const { runs } = JSON.parse(stdout) as {
      runs: { status: string; content: string; toolCalls: { name: string }[] }[]
    }
    expect(runs.map(({ status, toolCalls }) => [status, ...toolCalls.map(({ name }) => name)].join(' '))).toEqual([
      'ok weather-tool',
      'ok weather-tool weather-tool weather-tool',
      'ok search-tool',
      'ok',
      'ok order-tool refund-tool',
      'ok refund-tool',
      'ok',
      'error',
    ])
    expect(runs.filter(({ status, content }) => status === 'ok' && content !== 'full')).toEqual([])
  })

  it('is scored by the configuration beside it, with the installed program', { timeout: 30_000 }, async () => {
    const { stdout } = await promisify(execFile)('node_modules/.bin/node', [
      'cli/dist/main.js',
      'score',
      traces,
      '--config',
      'cli/sample/spanscore.config.mjs',
    ])
    expect(stdout).toContain('Not as expected: wanted weather-tool; called: search-tool.')
    expect(stdout).toContain('1 run skipped (run-failed)')
    expect(stdout).toContain('order A-404 is already refunded')
    expect(stdout).toContain('8 runs in')
  })

  it('is shown by the program run as a file, as npx does it', { timeout: 30_000 }, async () => {
    const env = { ...process.env, PATH: `${resolve('node_modules/.bin')}${delimiter}${process.env.PATH}` }
    const { stdout } = await promisify(execFile)('cli/bin/spanscore.js', ['inspect', traces], { env })
    expect(stdout).toContain('8 runs in')
  })

  it('names no machine', () => {
    expect(readFileSync(traces, 'utf8')).not.toMatch(/file:|node_modules|\/(?:home|Users|root|work)\/|"host\./)
  })
})
