import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'

import { serverFile } from './server-package.ts'

const folder = mkdtempSync(join(tmpdir(), 'spanscore-server-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('the package of the service', () => {
  it('is the one of the first place that has it', () => {
    const place = join(folder, 'node_modules/@spanscore/server')
    mkdirSync(place, { recursive: true })
    writeFileSync(
      join(place, 'package.json'),
      JSON.stringify({
        bin: { 'spanscore-server': './main.js' },
        exports: { '.': { default: './index.js' }, './package.json': './package.json' },
      }),
    )
    writeFileSync(join(place, 'main.js'), '')
    writeFileSync(join(place, 'index.js'), '')
    const places = [join(tmpdir(), 'index.js'), join(folder, 'index.js')]
    expect(serverFile('program', places)).toBe(join(place, 'main.js'))
    expect(serverFile('module', places)).toBe(join(place, 'index.js'))
  })

  it('is named with the command that installs it if it is missing', () => {
    expect(() => serverFile('module', [join(tmpdir(), 'index.js')])).toThrow(
      '@spanscore/server is not installed here: npm install @spanscore/server',
    )
  })
})
