import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { promisify, stripVTControlCharacters } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { runCommand } from './fixtures/run-command.ts'
import type { CommandWorld } from './fixtures/run-command.ts'
import { columnsOf } from '../cli/src/text.ts'
import { reconstructRuns } from '../src/runs/build-runs.ts'
import { libraryNames, loadLibrary, readScenario } from './corpus/load.ts'

const directory = mkdtempSync(join(tmpdir(), 'spanscore-inspect-'))
afterAll(() => rmSync(directory, { recursive: true }))

function file(name: string, content: string | Uint8Array): string {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}

const run = (argv: readonly string[], world: CommandWorld = {}) => runCommand(argv, { columns: 80, ...world })

function scenario(library: string, id: string): ReturnType<typeof loadLibrary>[number] {
  const found = loadLibrary(library).find((candidate) => candidate.id.startsWith(id))
  if (found === undefined) throw new Error(`no recording ${library} ${id}`)
  return found
}

const weather = scenario('ai-6.0.326', '01-weather.generateText')
const weatherText = JSON.stringify(weather.traces)

const textAttribute = (key: string, value: string): unknown => ({ key, value: { stringValue: value } })
const numberAttribute = (key: string, value: number): unknown => ({ key, value: { doubleValue: value } })

/** The output without the heading, which shows times. */
const withoutHeading = (tree: string): string => tree.split('\n').slice(3).join('\n')

interface Request {
  resourceSpans: { scopeSpans: { scope: { name: string }; spans: RequestSpan[] }[] }[]
}

interface RequestSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  startTimeUnixNano: string
  endTimeUnixNano: string
}

describe('spanscore inspect', () => {
  it('shows who ran, what it was given, its steps, and the answer', async () => {
    const { code, stdout, stderr } = await run(['inspect', file('weather.json', weatherText)])
    const [expected] = weather.expected.runs
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(`${expected!.agentName}  ok`)
    expect(stdout).toContain(`user     ${expected!.userInput}`)
    expect(stdout).toContain(`└─ ${expected!.toolCalls[0]!.name} ${JSON.stringify(expected!.toolCalls[0]!.args)}`)
    expect(stdout).toContain(`answer   ${String(expected!.output)}`)
    expect(stdout).toMatch(/\n1 run in \d+ spans: 1 ok\.\n$/)
  })

  it('says what failed in a chain that called no model', async () => {
    const { stdout } = await run(['inspect', 'test/fixtures/langchain-chain-failed-early.json'], { columns: 500 })
    expect(stdout).toBe(
      'no agent runs in 2 spans: 2 are from openinference, and no agent or model call is among them; retrieve failed: ' +
        'connection refused: vector store at db:6333; what fails before its first model call is no run\n',
    )
  })

  it('draws a run that a tool started below its call', async () => {
    const nested = scenario('openinference-openai-4.2.7', '09a')
    const { stdout } = await run(['inspect', file('nested.json', JSON.stringify(nested.traces))])
    expect(stdout).toMatch(/└─ research-agent .*\n.*│ research-agent {2}ok\n/)
  })

  it('names what is missing, and the setting that records it', async () => {
    const off = scenario('ai-6.0.326', '10a')
    const { stdout } = await run(['inspect', file('off.json', JSON.stringify(off.traces))])
    expect(stdout).toMatch(/missing .*input/)
    expect(stdout).toContain('recordInputs')
  })

  it('prints with --json exactly what the spans give', async () => {
    const { spans } = readScenario(weather)
    const { code, stdout } = await run(['inspect', '--json', file('weather.json', weatherText)])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({ runs: JSON.parse(JSON.stringify(reconstructRuns(spans))) })
  })

  it('reads standard input, several files, and logs beside traces', async () => {
    const chat = scenario('otel-instrumentation-openai-0.22.0', '01')
    const logs = file('logs.json', JSON.stringify(chat.logs, null, 1))
    const { stdout } = await run(['inspect', '--json', '-', logs], { input: JSON.stringify(chat.traces) })
    const { spans, logs: records } = readScenario(chat)
    expect(JSON.parse(stdout)).toEqual({ runs: JSON.parse(JSON.stringify(reconstructRuns(spans, records))) })
  })

  it('reads what Jaeger gives, and compressed files', async () => {
    const jaeger: { api: unknown } = JSON.parse(
      readFileSync(join(import.meta.dirname, 'fixtures/jaeger-2.13-trace.json'), 'utf8'),
    )
    const expected = (await run(['inspect', file('weather.json', weatherText)])).stdout
    const fromJaeger = await run(['inspect', file('jaeger.json', JSON.stringify(jaeger.api, null, 2))])
    expect(withoutHeading(fromJaeger.stdout)).toBe(withoutHeading(expected))
    expect((await run(['inspect', file('weather.json.gz', gzipSync(weatherText))])).stdout).toBe(expected)
    expect((await run(['inspect', file('weather.json.zst', zstdCompressSync(weatherText))])).stdout).toBe(expected)
  })

  it('shows the scores that are already on the spans, and gives them with --json', async () => {
    const { spans } = readScenario(weather)
    const runId = reconstructRuns(spans)[0]!.id
    const [traceId = '', spanId = ''] = runId.split(':')
    const late = {
      traceId,
      spanId: 'ffffffffffffff01',
      parentSpanId: spanId,
      name: 'evaluate tool_errors',
      startTimeUnixNano: '1795220754549000000',
      attributes: [
        numberAttribute('spanscore.tool_errors.score', 0),
        textAttribute('spanscore.tool_errors.label', 'pass'),
        textAttribute('spanscore.tool_errors.explanation', 'No call failed.'),
      ],
    }
    const event = {
      traceId,
      spanId,
      eventName: 'gen_ai.evaluation.result',
      attributes: [
        textAttribute('gen_ai.evaluation.name', 'prompt_alignment'),
        numberAttribute('gen_ai.evaluation.score.value', 0.4),
        textAttribute('gen_ai.evaluation.score.label', 'fail'),
      ],
    }
    const scores = JSON.stringify({
      resourceSpans: [{ scopeSpans: [{ scope: { name: 'spanscore' }, spans: [late] }] }],
      resourceLogs: [{ scopeLogs: [{ logRecords: [event] }] }],
    })
    const path = file('scored.jsonl', `${weatherText}\n${scores}\n`)
    const { stdout } = await run(['inspect', path])
    expect(stdout).toContain('✓ score  tool_errors 0  No call failed.\n✗ score  prompt_alignment 0.4\n')
    const { runs }: { runs: { scores: unknown }[] } = JSON.parse((await run(['inspect', '--json', path])).stdout)
    expect(runs.map((item) => item.scores)).toEqual([
      [
        { scorerId: 'tool_errors', value: 0, label: 'pass', explanation: 'No call failed.' },
        { scorerId: 'prompt_alignment', value: 0.4, label: 'fail', isForeign: true },
      ],
    ])
  })

  it('shows what was said on the span of the request around a run', async () => {
    const { traces } = structuredClone(weather) as { traces: Request }
    const spans = traces.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((each) => each.spans))
    const root = spans.find(({ parentSpanId = '' }) => parentSpanId === '')!
    root.parentSpanId = 'ffffffffffffff02'
    const said = {
      name: 'gen_ai.evaluation.result',
      timeUnixNano: root.startTimeUnixNano,
      attributes: [
        textAttribute('gen_ai.evaluation.name', 'thumbs'),
        textAttribute('gen_ai.evaluation.score.label', 'down'),
        textAttribute('gen_ai.evaluation.explanation', 'The wrong city.'),
      ],
    }
    const { traceId, startTimeUnixNano, endTimeUnixNano } = root
    const request = {
      traceId,
      spanId: 'ffffffffffffff02',
      name: 'POST /chat',
      startTimeUnixNano,
      endTimeUnixNano,
      events: [said],
    }
    traces.resourceSpans.push({ scopeSpans: [{ scope: { name: 'http' }, spans: [request] }] })
    const { stdout } = await run(['inspect', file('said.json', JSON.stringify(traces))])
    expect(stdout).toContain('thumbs')
    expect(stdout).toContain('The wrong city.')
  })

  it('shows the search of a tool below its call', async () => {
    const { traces } = scenario('python-openinference-langchain-rag-0.1.80', '02-retriever-in-tool')
    const { stdout } = await run(['inspect', file('rag.json', JSON.stringify(traces))])
    expect(stdout).toContain(
      '│  └─ search_documents {"query":"Oslo Monday degrees"}\n' +
        '│     ├─ search  Oslo Monday degrees  3 documents\n' +
        '│     │  → Oslo had four degrees below zero on Monday.\n',
    )
    expect(stdout.match(/─ search /g)).toHaveLength(1)
  })

  it('chooses runs by agent and trace, and names the existing agents if none is left', async () => {
    const nested = scenario('openinference-openai-4.2.7', '09a')
    const path = file('two.jsonl', `${weatherText}\n${JSON.stringify(nested.traces)}\n`)
    const agents = async (...argv: string[]): Promise<unknown[]> => {
      const { stdout } = await run(['inspect', '--json', path, ...argv])
      const { runs }: { runs: { agent: { name: string } }[] } = JSON.parse(stdout)
      return runs.map((item) => item.agent.name)
    }
    const [first, second] = await agents()
    expect(await agents('--agent', 'weather-agent')).toEqual([first])
    // A nested run is shown with the run that started it.
    expect(await agents('--agent', 'research-agent')).toEqual([second])
    expect(await agents('--agent', 'weather-agent', '--agent', 'research-agent')).toEqual([first, second])
    const traceId = reconstructRuns(readScenario(weather).spans)[0]!.traceId
    expect(await agents('--trace', traceId.slice(0, 12).toUpperCase())).toEqual([first])
    const { code, stdout, stderr } = await run(['inspect', path, '--agent', 'wether-agent'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^spanscore: no run of agent "wether-agent"; agents in the files: .*"weather-agent"/)
    const noTrace = await run(['inspect', path, '--trace', 'abc', '--json'])
    expect(noTrace.code).toBe(2)
    expect(noTrace.stderr).toMatch(`no run in trace abc; traces in the files: ${traceId}, `)
  })

  it('keeps to the width of the terminal, for recordings of every library', { timeout: 120_000 }, async () => {
    for (const library of libraryNames()) {
      for (const recording of loadLibrary(library).slice(0, 5)) {
        const { stdout } = await run(['inspect', '-'], { input: JSON.stringify(recording.traces), isTTY: true })
        const wide = stripVTControlCharacters(stdout)
          .split('\n')
          .filter((line) => columnsOf(line) > 80)
        // The line with the counts is a sentence and may be longer, and deeply nested text keeps a readable width.
        expect(wide.filter((line) => !line.startsWith('no agent runs') && !/^(│ {2}){3}/.test(line))).toEqual([])
      }
    }
  })

  it('uses colours only on a terminal, and not if NO_COLOR is set', async () => {
    const path = file('weather.json', weatherText)
    expect((await run(['inspect', path], { isTTY: true })).stdout).toContain('\u001B[')
    expect((await run(['inspect', path])).stdout).not.toContain('\u001B')
    expect((await run(['inspect', path], { isTTY: true, environment: { NO_COLOR: '1' } })).stdout).not.toContain(
      '\u001B',
    )
  })

  it('prints no escape sequence of a span', async () => {
    // The question is in JSON inside of JSON.
    const hostile = String.raw`Weather \\u001b]0;owned\\u0007 \\u001b[2J in \\u009b31m Paris \\u202e reversed`
    const path = file('hostile.json', weatherText.replaceAll(weather.expected.runs[0]!.userInput, hostile))
    // oxlint-disable-next-line no-control-regex -- the test looks for these characters
    const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/
    expect((await run(['inspect', path])).stdout).not.toMatch(controls)
    const { stdout } = await run(['inspect', path, '--json'])
    expect(stdout).not.toMatch(controls)
    const read: { runs: { userInput: string }[] } = JSON.parse(stdout)
    expect(read.runs[0]?.userInput).toContain('\u009B31m')
  })

  it('reports a damaged record with its place, reads the rest, and exits 0', async () => {
    const path = file('damaged.jsonl', `${weatherText}\n${weatherText.slice(0, 500)}\nnot json\n`)
    const { code, stdout, stderr } = await run(['inspect', path])
    expect(code).toBe(0)
    expect(stdout).toContain('1 run in')
    expect(stderr.trim().split('\n')).toEqual([
      `spanscore: ${path}, line 2: the JSON is cut off; left out`,
      `spanscore: ${path}, line 3: not valid JSON; left out`,
    ])
  })

  it('shows a part of many runs, only failed ones if asked to, and counts all', async () => {
    const sample = 'cli/sample/traces.jsonl'
    const scores = join(directory, 'scores.jsonl')
    await run(['score', sample, '--config', 'cli/sample/spanscore.config.mjs', '--out', scores])
    const sum = '8 runs in 44 spans: 7 ok, 1 error; failed by 2 tool_call_accuracy, 1 tool_errors.'
    const all = await run(['inspect', sample, scores, '--limit', '2'])
    expect(all.stdout.match(/^ai-sdk ·/gm)).toHaveLength(2)
    expect(all.stdout.replaceAll('\n', ' ')).toContain(`${sum} The first 2 are shown (--limit).`)
    const failed = await run(['inspect', sample, scores, '--failed-only'])
    expect(failed.stdout.match(/^ai-sdk ·/gm)).toHaveLength(4)
    expect(failed.stdout.replaceAll('\n', ' ')).toContain(`${sum} 4 failed.`)
    const { runs } = JSON.parse((await run(['inspect', sample, scores, '--failed-only', '--json'])).stdout)
    expect(runs).toHaveLength(4)
  })

  it('exits 2 with one line for wrong usage and for files without spans', async () => {
    const empty = file('empty.json', '')
    const prose = file('prose.txt', 'first line\nsecond line\n')
    const metrics = file('metrics.json', '{"resourceMetrics":[]}')
    const cases: readonly [readonly string[], string][] = [
      [
        [],
        'expected a command: score, common, inspect, view, mcp, cases, calibrate, canary, judge-check, doctor, serve; see spanscore --help',
      ],
      [['insepct', empty], "unknown command 'insepct' (Did you mean inspect?); see spanscore --help"],
      [
        ['scan', empty],
        "unknown command 'scan', expected one of score, common, inspect, view, mcp, cases, calibrate, canary, judge-check, doctor, serve; see spanscore --help",
      ],
      [['inspect'], "missing required argument 'files'; see spanscore inspect --help"],
      [['inspect', '--jsno', empty], "unknown option '--jsno' (Did you mean --json?); see spanscore inspect --help"],
      [['inspect', join(directory, 'gone.json')], `cannot read ${join(directory, 'gone.json')}: no such file`],
      [['inspect', directory], `cannot read ${directory}: it is a directory; name its files`],
      [['inspect', empty], `no spans in ${empty}: the file is empty`],
      [
        ['inspect', metrics],
        `no spans in ${metrics} (only metrics); expected traces as OTLP (JSON, JSON lines, protobuf), or of Jaeger or Tempo: docs/reference/trace-files.md`,
      ],
      [
        ['inspect', '--json', prose],
        `no spans in ${prose} (line 1: not valid JSON); expected traces as OTLP (JSON, JSON lines, protobuf), or of Jaeger or Tempo: docs/reference/trace-files.md`,
      ],
    ]
    for (const [argv, message] of cases) {
      expect(await run(argv)).toEqual({ code: 2, stdout: '', stderr: `spanscore: ${message}\n` })
    }
  })

  it('has help and a version', async () => {
    expect((await run(['--help'])).stdout).toMatch(/^Usage: spanscore .*inspect/s)
    expect((await run(['inspect', '--help'])).stdout).toMatch(/^Usage: spanscore inspect \[options\] <files\.\.\.>/)
    expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+/)
  })

  it('works as the program that the package installs, and ends quietly if its output is no longer read', async () => {
    const main = join(import.meta.dirname, '../cli/src/main.ts')
    const path = file(
      'many.jsonl',
      `${weatherText}\n`
        .repeat(400)
        .replaceAll(
          /"traceId":"[0-9a-f]{8}/g,
          () => `"traceId":"${Math.random().toString(16).slice(2, 10).padEnd(8, '0')}`,
        ),
    )
    const { stdout } = await promisify(execFile)(process.execPath, [main, 'inspect', path, '--json'], {
      maxBuffer: 1 << 28,
    })
    const read: { runs: unknown[] } = JSON.parse(stdout)
    expect(read.runs.length).toBeGreaterThan(100)
    const child = spawn(process.execPath, [main, 'inspect', path], { stdio: ['ignore', 'pipe', 'pipe'] })
    await once(child.stdout, 'data')
    child.stdout.destroy()
    const [code]: unknown[] = await once(child, 'exit')
    expect({ code, stderr: await text(child.stderr) }).toEqual({ code: 0, stderr: '' })
  })

  it.runIf(existsSync('/dev/full'))('says in one line that its output cannot be written, and exits 2', async () => {
    const main = join(import.meta.dirname, '../cli/src/main.ts')
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [main, 'inspect', file('weather.json', weatherText)], {
      stdio: ['ignore', full, 'pipe'],
    })
    const [stderr, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit')])
    closeSync(full)
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^spanscore: cannot write the output: ENOSPC.*\n$/),
    })
  })
})
