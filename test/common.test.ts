import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { loadLibrary } from './corpus/load.ts'
import { runCommand } from './fixtures/run-command.ts'

const root = resolve(import.meta.dirname, '..')
const directory = mkdtempSync(join(tmpdir(), 'spanscore-common-'))
afterAll(() => rmSync(directory, { recursive: true }))

function file(name: string, lines: readonly string[]): string {
  const path = join(directory, name)
  writeFileSync(path, lines.join('\n'))
  return path
}

interface Kind {
  readonly count: number
  readonly failing: number
  readonly language: string
  readonly version: string
}

const RECORDED = JSON.stringify(loadLibrary('ai-6.0.326').find(({ id }) => id.startsWith('01-'))?.traces)
let made = 0

/** Runs of a real library under other trace ids, with attributes of an application and a label on the agent's span. */
function runs({ count, failing, language, version }: Kind): string[] {
  return Array.from({ length: count }, (_, index) => {
    made += 1
    const id = made.toString(16).padStart(8, '0')
    const label = { key: 'spanscore.quality.label', value: { stringValue: index < failing ? 'fail' : 'pass' } }
    const score = { key: 'spanscore.quality.score', value: { doubleValue: index < failing ? 0 : 1 } }
    const app = { key: 'app.language', value: { stringValue: language } }
    const request = JSON.parse(RECORDED.replaceAll(/"traceId":"[0-9a-f]{8}/g, `"traceId":"${id}`))
    for (const { resource, scopeSpans } of request.resourceSpans) {
      resource.attributes.push({ key: 'service.version', value: { stringValue: version } })
      for (const { spans } of scopeSpans) {
        for (const span of spans) if (span.parentSpanId === undefined) span.attributes.push(label, score, app)
      }
    }
    return JSON.stringify(request)
  })
}

const english = runs({ count: 60, failing: 2, language: 'en', version: '1.1.0' })
const german = runs({ count: 30, failing: 26, language: 'de', version: '1.1.0' })
const traces = file('now.jsonl', [...english, ...german])
const past = file('before.jsonl', [
  ...runs({ count: 40, failing: 1, language: 'en', version: '1.0.0' }),
  ...runs({ count: 20, failing: 0, language: 'de', version: '1.0.0' }),
])

/** The lines of the result without their breaks. */
const joined = (text: string): string => text.replaceAll(/\n\s+/g, ' ')

async function messageOf(...argv: string[]): Promise<string> {
  const { code, stderr } = await runCommand(['common', ...argv])
  expect(code).toBe(2)
  return stderr
}

describe('spanscore common', () => {
  it('says what the failing runs have in common, and what changed since the baseline', async () => {
    const { code, stdout, stderr } = await runCommand(['common', traces, '--scorer', 'quality', '--baseline', past], {
      columns: 200,
    })
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(stdout).toContain('quality: 31 % of 90 runs fail (28). Before: 1.7 % of 60 runs.')
    expect(stdout).toContain('service.version = 1.1.0: 0 % → 100 % of the runs')
    expect(joined(stdout)).toContain(
      '1. app.language = de: 26 of its 30 runs fail (87 %; before: 0 %), of the others 3.3 %; 93 % of the failing runs have it.',
    )
    expect(stdout).toMatch(/For example [0-9a-f]{32}, [0-9a-f]{32}\./)
    expect(stdout).toContain('Left: 60 runs, of which 3.3 % fail.')
  })

  it('prints the same for programs and for pull requests', async () => {
    const json = await runCommand(['common', traces, '--scorer', 'quality', '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({
      scorer: 'quality',
      since: null,
      runs: 90,
      failing: 28,
      changed: [],
      common: [{ traits: ['app.language = de'], and: null, runs: 30, failing: 26, rateBefore: null }],
      left: { runs: 60 },
    })
    const markdown = await runCommand(['common', traces, '--scorer', 'quality', '--markdown'])
    expect(markdown.stdout).toContain('**What the failing runs have in common**')
    expect(markdown.stdout).toContain('- 1. app.language = de: 26 of its 30 runs fail')
  })

  it('compares only the runs with a trait, and refuses one that no run has', async () => {
    const some = await runCommand(['common', traces, '--scorer', 'quality', '--where', 'app.language=de', '--json'])
    expect(JSON.parse(some.stdout)).toMatchObject({ runs: 30, failing: 26, common: [] })
    const none = await runCommand(['common', traces, '--scorer', 'quality', '--where', 'app.language=fr'])
    expect(none).toMatchObject({ code: 2, stdout: '' })
    expect(none.stderr).toMatch(/no run has app\.language = fr; traits of the runs: agent, .*app\.language/)
  })

  it('reads scores that spanscore score has written', async () => {
    const config = file('common.config.ts', [
      `import { createScorer } from '${root}/src/entries/main.ts'`,
      "export default { scorers: [{ scorer: createScorer({ id: 'known', description: 'd' }).generateScore(({ run }) => (run.attributes['app.language'] === 'de' ? 0 : 1)) }] }",
    ])
    const scores = join(directory, 'scores.jsonl')
    const scored = await runCommand(['score', traces, '--config', config, '--out', scores])
    expect(scored.stderr).toBe('')
    expect(joined(scored.stdout)).toContain(
      'In common: app.language = de: 30 of its 30 runs fail (100 %), of the others 0 %',
    )
    const { stdout } = await runCommand(['common', traces, scores, '--scorer', 'known'])
    expect(stdout).toContain('app.language = de: 30 of its 30 runs fail (100 %)')
  })

  it('names in the reports of spanscore score what newly failing runs have in common', async () => {
    const config = (name: string, language: string) =>
      file(name, [
        `import { createScorer } from '${root}/src/entries/main.ts'`,
        `export default { scorers: [{ scorer: createScorer({ id: 'known', description: 'd' }).generateScore(({ run }) => (run.attributes['app.language'] === '${language}' ? 0 : 1)) }] }`,
      ])
    const earlier = await runCommand(['score', traces, '--config', config('earlier.config.ts', 'en'), '--json'])
    const baseline = file('baseline.json', [earlier.stdout])
    const markdown = join(directory, 'summary.md')
    const now = ['score', traces, '--config', config('later.config.ts', 'de'), '--markdown', markdown]
    expect(joined((await runCommand([...now, '--baseline', baseline])).stdout)).toContain(
      'In common: app.language = de: 30 of its 30',
    )
    expect(readFileSync(markdown, 'utf8')).toContain(
      'What the failing runs have in common:\n\n- `weather-agent`, `known`: app.language = de',
    )
  })

  it('says what to do if there is nothing to compare', async () => {
    const unscored = file('unscored.jsonl', [RECORDED])
    expect(await messageOf(unscored, '--scorer', 'quality')).toContain(
      'no run in the files has a score; score them first: spanscore score',
    )
    expect(await messageOf(traces, '--scorer', 'qualty')).toContain(
      'no run has a score of qualty; the files have scores of quality',
    )
    expect(await messageOf(traces, '--scorer', 'quality', '--since', '2100-01-01')).toContain(
      '--since: expected a time between',
    )
    expect(await messageOf(traces, '--scorer', 'quality', '--where', 'app.language=en')).toContain(
      'only 2 of 60 scored runs fail quality; at least 5 failing runs are needed',
    )
    expect(await messageOf(traces, '--scorer', 'quality', '--since', '1h', '--baseline', past)).toContain('got both')
    expect(await messageOf(traces)).toContain("required option '--scorer <id>'")
  })
})
