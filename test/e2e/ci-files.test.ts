/** The files for GitHub and GitLab that docs/ci.md shows. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, expect, it } from 'vitest'

import { findProgram } from '../../scripts/e2e-tools.ts'
import { pythonWithPackages } from './python.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'spanscore-ci-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Writes the block that names this file in its first line. */
function shown(name: string, change = (text: string): string => text): string {
  const page = readFileSync('docs/ci.md', 'utf8')
  const block = [...page.matchAll(/^```yaml\n([^]*?)^```/gm)].find(([, text]) => text!.startsWith(`# ${name}\n`))
  const file = join(folder, name.replaceAll('/', '-'))
  writeFileSync(file, change(block![1]!))
  return file
}

it('shows a workflow for GitHub that actionlint takes', async () => {
  const actionlint = findProgram('actionlint')!
  const { stdout } = await run(actionlint, ['-no-color', shown('.github/workflows/agent.yml')])
  expect(stdout).toBe('')
  const wrong = shown('.github/workflows/agent.yml', (text) => text.replace('runs-on:', 'runs:'))
  await expect(run(actionlint, ['-no-color', wrong])).rejects.toMatchObject({ code: 1 })
})

it('shows a pipeline for GitLab that its schema takes', { timeout: 300_000 }, async () => {
  const bin = await pythonWithPackages('ci.txt')
  const check = (file: string) =>
    run(join(bin, 'check-jsonschema'), ['--builtin-schema', 'vendor.gitlab-ci', '--data-transform', 'gitlab-ci', file])
  await check(shown('.gitlab-ci.yml'))
  const wrong = shown('.gitlab-ci.yml', (text) => text.replace('script:', 'skript:'))
  await expect(check(wrong)).rejects.toMatchObject({ code: 1 })
})
