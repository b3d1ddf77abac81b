import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, describe, expect, it } from 'vitest'

import { configJsonSchema } from './config-schema.ts'
import { checkStart } from '../check.ts'
import { ALERTS_WITHOUT_METRICS, loadServiceConfig } from './load-config.ts'

const folder = mkdtempSync(join(tmpdir(), 'spanscore-config-'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

function load(name: string, text: string) {
  const file = join(folder, name)
  writeFileSync(file, text)
  const lines: string[] = []
  return { ...loadServiceConfig(file, (line) => lines.push(line)), lines }
}

const idsOf = ({ options }: ReturnType<typeof loadServiceConfig>) =>
  options.scorers.map((entry) => ('scorer' in entry ? (entry.id ?? entry.scorer.id) : entry.id))

describe('a configuration of the service', () => {
  it('suggests the scorer that a misspelt name probably meant', () => {
    const message =
      /scorers\[1\]: expected one of abandoned, .*, got tool_call_acuracy\. Did you mean tool_call_accuracy\?/
    expect(() => load('typo.yaml', 'scorers: [loop, { name: tool_call_acuracy }]')).toThrow(message)
    expect(() => load('typo.yaml', 'scorers: [loop, tool_call_acuracy]')).toThrow(message)
  })

  it('names prebuilt scorers in YAML', () => {
    const config = load(
      'a.yaml',
      `scorers:
  - tool_errors
  - name: tool_call_accuracy
    id: uses_weather
    agent: weather
    sample: 0.5
    options: { expectedTool: weather }
budget: { callsPerMinute: 10 }
`,
    )
    expect(idsOf(config)).toEqual(['tool_errors', 'uses_weather'])
    expect(config.options.budget).toEqual({ callsPerMinute: 10 })
    expect(config.lines).toEqual([])
  })

  it('may be JSON', () => {
    expect(idsOf(load('b.json', '{"scorers": ["loop"]}'))).toEqual(['loop'])
  })

  it('has limits, in YAML and in a module, and their defaults', () => {
    const module = 'export default { scorers: [], limits: { heldSpans: 7 } }'
    for (const config of [
      load('limits.yaml', 'scorers: [loop]\nlimits: { heldSpans: 7 }'),
      load('limits.mjs', module),
    ]) {
      expect(config.limits).toMatchObject({ heldSpans: 7, spanMiB: 4 })
      expect(config.options).not.toHaveProperty('limits')
    }
    expect(loadServiceConfig(undefined, () => undefined).limits.heldSpans).toBe(150_000)
    expect(() => load('zero.yaml', 'scorers: [loop]\nlimits: { heldSpans: 0 }')).toThrow(/limits\.heldSpans/)
    expect(() => load('typo.mjs', module.replace('heldSpans', 'maxSpans'))).toThrow(/limits: .*one of traceSpans, /)
  })

  it('is said to raise no alert if nothing sends metrics', async () => {
    for (const [text, isSaid] of [
      ['scorers: [loop]', false],
      ['scorers: [{ name: loop, alerts: { target: 0.9 } }]', true],
      ['scorers: [loop]\nalerts: { quiet: 2h }', true],
    ] as const) {
      const configPath = join(folder, 'alerts.yaml')
      writeFileSync(configPath, text)
      const lines: string[] = []
      expect(await checkStart({ configPath, to: undefined }, (line) => lines.push(line))).toBe(true)
      expect(lines.includes(ALERTS_WITHOUT_METRICS)).toBe(isSaid)
    }
  })

  it('uses code scorers if there is none', () => {
    const lines: string[] = []
    expect(idsOf(loadServiceConfig(undefined, (line) => lines.push(line)))).toEqual([
      'answer_present',
      'hallucinated_tool',
      'loop',
      'tool_arguments',
      'tool_errors',
    ])
  })

  it('may be a module, which is named before it is executed and imports the copy of spanscore that the service uses', () => {
    const config = load(
      'c.mjs',
      `import { defineConfig } from 'spanscore'
import { createLoopScorer } from 'spanscore/scorers/prebuilt'
export default defineConfig({ scorers: [createLoopScorer()] })
`,
    )
    expect(idsOf(config)).toEqual(['loop'])
    expect(config.lines).toEqual([`The configuration ${join(folder, 'c.mjs')} is a program, and is executed now.`])
  })

  it.each([
    ['an unknown scorer', 'd.yaml', 'scorers: [tool_erors]', /scorers\[0\]/],
    ['an unknown key', 'e.yaml', 'scorers: [loop]\nsampel: 1', /sample,.*, got sampel\./],
    ['a wrong value', 'f.yaml', 'scorers: [loop]\nsample: 2', /sample/],
    [
      'a wrong option of a scorer',
      'g.yaml',
      'scorers:\n  - name: tool_call_accuracy',
      /tool_call_accuracy.*expectedTool/s,
    ],
    ['an option of the processor', 'h.yaml', 'scorers: [loop]\nholdMs: 5', /holdMs, which belongs to the processor/],
    ['an empty file', 'empty.yaml', '', /expected scorers and their options, .*, got an empty file/],
    ['broken YAML', 'i.yaml', 'scorers: [', /does not parse/],
    ['an alias of nothing', 'alias.yaml', 'scorers: [*loop]', /alias\.yaml: expected YAML or JSON, .*alias/],
    [
      'a scorer without a name',
      'nameless.yaml',
      'scorers: [{ nam: loop }]',
      /scorers\[0\]: expected one of .*, got none/,
    ],
    ['a module without options', 'j.mjs', 'export const a = 1', /export default defineConfig/],
    ['another kind of file', 'k.toml', '', /ends in \.yaml/],
    ['an unknown key of a scorer', 'l.yaml', 'scorers: [{ name: loop, optons: {} }]', /options.*, got optons\./],
  ])('is refused for %s, with what to do', (_, name, text, message) => {
    expect(() => load(name, text)).toThrow(message)
  })

  it('is refused if it is a folder', () => {
    mkdirSync(join(folder, 'folder.yaml'))
    expect(() => loadServiceConfig(join(folder, 'folder.yaml'), () => undefined)).toThrow(
      /^--config .*folder\.yaml: expected a file that can be read/,
    )
  })

  it('has a JSON schema for editors that equals the schema of the code', () => {
    const path = new URL('../../config.schema.json', import.meta.url)
    const schema = `${JSON.stringify(configJsonSchema(), undefined, 2)}\n`
    if (process.env['UPDATE_SCHEMA'] === '1') writeFileSync(path, schema)
    // The file is formatted like all others, so only its content is compared.
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(JSON.parse(schema))
  })
})
