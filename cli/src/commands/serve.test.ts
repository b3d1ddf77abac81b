import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { spawnSync } from 'node:child_process'
import { afterAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'spanscore-serve-'))
afterAll(() => rmSync(folder, { recursive: true }))

const serve = (cwd: string, ...words: string[]) =>
  spawnSync(process.execPath, [resolve('cli/dist/main.js'), 'serve', ...words], { cwd, encoding: 'utf8' })

describe('spanscore serve', () => {
  it('passes all options on to the service that is installed in this folder, and ends as it ends', () => {
    const service = join(folder, 'node_modules/@spanscore/server')
    mkdirSync(service, { recursive: true })
    writeFileSync(join(service, 'package.json'), '{ "bin": { "spanscore-server": "./main.mjs" } }')
    writeFileSync(join(service, 'main.mjs'), 'console.log(process.argv.slice(2).join()); process.exitCode = 1')
    const { status, stdout } = serve(folder, '--to', 'http://localhost:4319', '--forward')
    expect(stdout).toBe('--to,http://localhost:4319,--forward\n')
    expect(status).toBe(1)
  })
})
