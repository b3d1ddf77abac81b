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

  test('that is missing is reported with the searched places and what to write', () => {
    expect(() => load({})).toThrow(/spanscore\.config\.ts, .* in .*spanscore-config-.*defineConfig\(\{ scorers/)
  })

  test('in TypeScript says what to do if Node.js does not run TypeScript', () => {
    writeFileSync(join(cwd, 'spanscore.config.ts'), 'export default {}')
    const host = { ...thisProcess(), cwd, path: undefined, runsTypeScript: false, nodeVersion: 'v22.15.0' }
    expect(() => loadConfigFile(host)).toThrow(
      /expected Node 22\.18 or later.*got v22\.15\.0; write it as spanscore\.config\.mjs/,
    )
  })

  test('of the service says what checks it', () => {
    expect(() => load({ 'spanscore.yaml': 'scorers: [loop]' }, 'spanscore.yaml')).toThrow(
      /spanscore\.yaml: expected a module, got a configuration of the service\. Check it with spanscore-server --check/,
    )
  })

  test('with a top-level await says that it cannot be awaited', () => {
    expect(() => load({ 'spanscore.config.mjs': 'export default await 1' })).toThrow(/without top-level await/)
  })

  test.each(['export default 3', 'export default null', 'export default []'])('that says %j is refused', (text) => {
    const attempt = () => load({ 'spanscore.config.mjs': text })
    expect(attempt).toThrow(/spanscore\.config\.mjs: expected export default defineConfig/)
  })

  test.each([
    ['throw new Error("no key")', /spanscore\.config\.mjs: expected a module that loads, got Error: no key$/],
    ['throw "plain"', /spanscore\.config\.mjs: expected a module that loads, got "plain"$/],
    [
      'export default {}\nconst a = [',
      /spanscore\.config\.mjs: expected a module that loads, got SyntaxError: .* \(line 2\)$/,
    ],
    ['import "no-such-package"', /spanscore\.config\.mjs: expected a module that loads, got .*no-such-package/],
  ])('that does not load (%j) is named with its error', (text, message) => {
    expect(() => load({ 'spanscore.config.mjs': text })).toThrow(message)
  })

  test.each([
    ['spanscore.config.ts', 'const rate: number = 1\n\nexport default { sample: }', /got SyntaxError: .* \(line 3\)$/],
    ['spanscore.config.js', 'const rate = 1\nmodule.exports = { sample: }', /got SyntaxError: .* \(line 2\)$/],
  ])('%s with a syntax error says in which line', (name, text, message) => {
    expect(() => load({ [name]: text })).toThrow(message)
  })

  test.each([
    ['spanscore.config.ts', "import 'node:fs'\nexport default { sample: 0.1 }", 'spanscore.config.mts'],
    ['spanscore.config.js', 'export default { sample: 0.1 }', 'spanscore.config.mjs'],
  ])('%s that Node.js reads as CommonJS says so, and the name that it suggests loads', (name, text, suggested) => {
    const manifest = { 'package.json': '{ "type": "commonjs" }' }
    expect(() => load({ ...manifest, [name]: text })).toThrow(
      `"type": "commonjs", got an import or export statement; rename it to ${suggested}`,
    )
    rmSync(join(cwd, name))
    expect(load({ ...manifest, [suggested]: text })).toEqual({ sample: 0.1 })
  })

  test('that imports a module with a syntax error says that the error is there', () => {
    const files = { 'spanscore.config.mjs': 'import "./other.mjs"\nexport default {}', 'other.mjs': 'let = = 1' }
    expect(() => load(files)).toThrow(/got SyntaxError: .* \(in a module that it imports\)$/)
  })

  test('without a default export says what is missing; options may be its named exports', () => {
    expect(() => load({ 'spanscore.config.mjs': 'export const sample = 1' })).toThrow(/got "no default export"/)
    expect(load({ 'named.mjs': 'export const scorers = []' }, 'named.mjs')).toMatchObject({ scorers: [] })
  })

  test('that exports a promise is refused, and its rejection does not end the process', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    const text = 'export default Promise.reject(new Error("later"))'
    expect(() => load({ 'spanscore.config.mjs': text })).toThrow(/which cannot be async, got "a promise"/)
    // Node.js says what nobody handles before the next turn of the loop.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })
})
