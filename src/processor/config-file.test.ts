import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { loadConfigFile, thisProcess } from './config-file.ts'

let cwd = ''

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'spanscore-config-'))
})

afterEach(() => rmSync(cwd, { recursive: true }))

function load(files: Record<string, string>, path?: string) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
  return loadConfigFile({ ...thisProcess(), cwd, path })
}

describe('The configuration file', () => {
  test.each([
    ['an ES module', 'spanscore.config.mjs', 'export default { sample: 0.1 }'],
    ['a CommonJS module', 'spanscore.config.js', 'module.exports = { sample: 0.1 }'],
    [
      'what TypeScript makes of a default export',
      'spanscore.config.js',
      'exports.__esModule = true; exports.default = { sample: 0.1 }',
    ],
    ['TypeScript', 'spanscore.config.ts', 'const sample: number = 0.1\nexport default { sample }'],
  ])('may be %s', (_, name, text) => {
    expect(load({ [name]: text })).toMatchObject({ sample: 0.1 })
  })

  test('is the .ts one before the .mjs one before the .js one', () => {
    const files = {
      'spanscore.config.js': 'module.exports = { sample: 0.3 }',
      'spanscore.config.mjs': 'export default { sample: 0.2 }',
    }
    expect(load(files)).toEqual({ sample: 0.2 })
    expect(load({ ...files, 'spanscore.config.ts': 'export default { sample: 0.1 }' })).toEqual({ sample: 0.1 })
  })

  test('is the one that SPANSCORE_CONFIG names', () => {
    expect(load({ 'other.mjs': 'export default { sample: 0.4 }' }, './other.mjs')).toEqual({ sample: 0.4 })
    expect(() => load({}, 'missing.mjs')).toThrow(
      /SPANSCORE_CONFIG: expected the path of .*missing\.mjs, which does not exist/,
    )
  })

  test('that is missing is said to be missing, with where it was looked for and what to write', () => {
    expect(() => load({})).toThrow(/spanscore\.config\.ts, .* in .*spanscore-config-.*defineConfig\(\{ scorers/)
  })

  test('in TypeScript says what to do where Node does not run TypeScript', () => {
    writeFileSync(join(cwd, 'spanscore.config.ts'), 'export default {}')
    const host = { ...thisProcess(), cwd, path: undefined, runsTypeScript: false, nodeVersion: 'v22.15.0' }
    expect(() => loadConfigFile(host)).toThrow(
      /expected Node 22\.18 or later.*got v22\.15\.0; write it as spanscore\.config\.mjs/,
    )
  })

  test('with a top-level await says that it cannot be awaited', () => {
    expect(() => load({ 'spanscore.config.mjs': 'export default await 1' })).toThrow(/without top-level await/)
  })

  test.each(['export default 3', 'export default null', 'export default []'])('that says %j is refused', (text) => {
    const attempt = () => load({ 'spanscore.config.mjs': text })
    expect(attempt).toThrow(/spanscore\.config\.mjs: expected export default defineConfig/)
  })

  test('that throws is reported by what it threw', () => {
    expect(() => load({ 'spanscore.config.mjs': 'throw new Error("no key")' })).toThrow('no key')
  })
})
