import { execFile } from 'node:child_process'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { answerJudge } from '../../examples/demo/judge-script.ts'
import { questions } from '../../examples/demo/script.ts'
import type { CalibrationFile } from '../../cli/src/calibration/calibration.ts'
import { labelSchema } from '../../src/cases/labels.ts'
import { runCommand } from '../fixtures/run-command.ts'
import { createScriptedOpenAIServer } from '../../src/entries/testing.ts'
import type { ScriptedOpenAIServer } from '../../src/entries/testing.ts'

const root = resolve(import.meta.dirname, '../..')
const directory = mkdtempSync(join(tmpdir(), 'spanscore-calibrate-'))
const at = (name: string): string => join(directory, name)
const files = [at('traces.jsonl'), at('logs.jsonl')]
let environment: Record<string, string> = {}

const run = (...argv: string[]) => runCommand(argv, { environment })

type Line = Record<string, unknown>

const readLines = (file: string): Line[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
const writeLines = (file: string, lines: readonly Line[]): string => {
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return file
}

/** What a person finds: these three answers are bad, and so is one that the scripted judge passes. */
const BAD = [questions.weather[2], questions.weather[3], questions.support[1], questions.trip[0]]

/** Fills in a line as a person does. */
function filledIn(line: Line, index: number): Line {
  const isBad = BAD.some((question) => JSON.stringify(line.run).includes(question))
  return { ...line, label: isBad ? 'fail' : 'pass', note: `line ${index}` }
}

/** Receives OTLP as JSON and appends it to files, as a Collector's file exporter does. */
async function receive(): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      appendFileSync(at(`${request.url?.split('/').at(-1)}.jsonl`), `${body}\n`)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
}

/** Adds the demo's runs to the files four times more, each time as other traces. */
function repeatRuns(): void {
  const recorded = files.map((file) => readFileSync(file, 'utf8'))
  const traceIds = new Set(recorded[0]?.match(/(?<="traceId":")[0-9a-f]{32}/g))
  for (const round of ['a', 'b', 'c', 'd']) {
    for (const [index, file] of files.entries()) {
      let more = recorded[index] ?? ''
      for (const id of traceIds) more = more.replaceAll(id, round.repeat(4) + id.slice(4))
      appendFileSync(file, more)
    }
  }
}

/** How the judge answers when it judges a run again. */
let answer = answerJudge
let judge: ScriptedOpenAIServer
let receiver: Awaited<ReturnType<typeof receive>>

beforeAll(async () => {
  receiver = await receive()
  await promisify(execFile)(process.execPath, ['examples/demo/main.ts'], {
    cwd: root,
    env: { ...process.env, OPENAI_API_KEY: '', OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
  })
  repeatRuns()
  judge = await createScriptedOpenAIServer((request) => answer(request))
  process.env.SPANSCORE_TEST_JUDGE = judge.url
  writeFileSync(
    at('spanscore.config.ts'),
    `import { createOpenAI } from '${root}/node_modules/@ai-sdk/openai/dist/index.js'
import { createPromptAlignmentScorerLLM } from '${root}/src/entries/scorers.ts'
const openai = createOpenAI({ baseURL: process.env.SPANSCORE_TEST_JUDGE, apiKey: 'scripted' })
export default { scorers: [createPromptAlignmentScorerLLM({ model: openai('gpt-5-mini') })] }
`,
  )
}, 240_000)

afterAll(async () => {
  receiver.close()
  await judge.close()
  delete process.env.SPANSCORE_TEST_JUDGE
  rmSync(directory, { recursive: true })
})

const drawn = at('to-label.jsonl')
const labels = at('labels.jsonl')
const canaryFile = at('canary.jsonl')
const calibrationFile = at('out/spanscore.calibration.json')
const canary = (...more: string[]) =>
  run('canary', canaryFile, '--config', at('spanscore.config.ts'), '--calibration', calibrationFile, ...more)
const readCalibration = () => (JSON.parse(readFileSync(calibrationFile, 'utf8')) as CalibrationFile).calibrations[0]

describe('labels of the demo’s runs', { timeout: 120_000 }, () => {
  it('are drawn without the verdict, with the content, and repeatably', async () => {
    const argv = ['calibrate', 'draw', ...files, '--scorer', 'prompt_alignment', '--n', '40', '--seed', '7', '--out']
    const { code, stdout, stderr } = await run(...argv, drawn)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^40 of 45 runs that prompt_alignment [0-9a-f]{8} \(gpt-5-mini.*\) scored are drawn/)
    expect(stdout).toContain('The file holds the content of the runs')
    const lines = readLines(drawn)
    expect(lines).toHaveLength(40)
    expect(new Set(lines.map(({ runId }) => runId)).size).toBe(40)
    const shown = readFileSync(drawn, 'utf8')
    expect(shown).toContain(questions.support[1])
    // All runs have the same weight, so every line was equally likely to be drawn.
    const probabilities = new Set(shown.match(/"drawProbability":\{"pass":[\d.]+,"fail":[\d.]+\}/g))
    expect(probabilities.size).toBe(1)
    const [probability = ''] = probabilities
    expect(shown.replaceAll(probability, '')).not.toMatch(/spanscore\.|"pass"|"fail"|"score"|alignment is/)
    expect(statSync(drawn).mode & 0o077).toBe(0)
    expect((await run(...argv, at('again.jsonl'))).code).toBe(0)
    expect(readFileSync(at('again.jsonl'), 'utf8')).toBe(shown)
    expect(await run(...argv, drawn)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('may hold labels already'),
    })
    const all = await run('calibrate', 'draw', ...files, '--out', at('none.jsonl'))
    expect(all).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--scorer: expected which .*, one of prompt_al/),
    })
    const spans = await run('calibrate', 'draw', files[0] ?? '', '--out', at('none.jsonl'))
    expect(spans).toMatchObject({ code: 2, stderr: expect.stringContaining('give the files with the events') })
    expect(existsSync(at('none.jsonl'))).toBe(false)
    const rest = await run(...argv, at('rest.jsonl'), '--labels', drawn)
    expect(rest.stdout).toMatch(/^5 of 5 runs/)
    const before = new Set(lines.map(({ runId }) => runId))
    expect(readLines(at('rest.jsonl')).filter(({ runId }) => before.has(runId))).toEqual([])
  })

  it('give the same error rates of the judge as counting by hand', async () => {
    writeLines(labels, readLines(drawn).map(filledIn))
    const argv = ['calibrate', ...files, '--labels', labels, '--labeller', 'ann', '--out', at('out')]
    const { code, stdout, stderr } = await run(...argv, '--canary', canaryFile)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/45 judged runs of .*; of the labelled ones people pass \d+ and fail \d+\./)
    expect(stdout).toMatch(/sensitivity +[·├─●┤]{40} {2}1\.00 \(0\.\d\d to 1\.00\)/)
    expect(stdout).toContain('The rules correct the share that passes')
    const found = readCalibration()
    // Of the nine runs of each round the judge fails three, all of them bad; of the six others one is bad.
    expect(found?.judgePassed).toBeCloseTo(6 / 9, 9)
    expect(found?.sensitivity).toBe(1)
    expect(found?.confusion.tn).toBeCloseTo(3 / 9, 9)
    expect(found?.specificity).toBeGreaterThan(0.65)
    expect(found?.specificity).toBeLessThan(0.85)
    expect(found?.ppi.mean).toBeCloseTo(5 / 9, 1)
    expect(found?.kappa).toBeGreaterThan(0.6)
    const page = readFileSync(at('out/calibration.html'), 'utf8')
    expect(page.match(/<svg /g)).toHaveLength(2)
    for (const file of [calibrationFile, at('out/rules/calibration.yml'), at('out/calibration.html')]) {
      expect(readFileSync(file, 'utf8')).not.toContain('Lima')
    }
    expect(readFileSync(canaryFile, 'utf8')).toContain('Lima')
    expect(statSync(canaryFile).mode & 0o077).toBe(0)
  })

  it('are judged again, compared with an earlier reference, and sent as metrics', async () => {
    const first = await canary()
    expect(first).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/There is no reference yet\. Run spanscore canary --ref/),
    })
    expect(first.stderr).toContain('metrics are not sent')
    for (let pass = 0; pass < 3; pass++) expect((await canary('--reference', '--out', at('metrics.json'))).code).toBe(0)
    const { reference } = readCalibration() ?? {}
    const runs = readLines(canaryFile)
    expect((reference?.pass.runs ?? 0) + (reference?.fail.runs ?? 0)).toBe(3 * runs.length)
    expect(readFileSync(at('out/rules/calibration.yml'), 'utf8')).toContain('SpanscoreJudgeDrifted')
    environment = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }
    rmSync(at('metrics.jsonl'), { force: true })
    const { code, stdout, stderr } = await canary('--fail-under', 'prompt_alignment=0.8')
    environment = {}
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^✓ prompt_alignment [0-9a-f]{8} \(gpt-5-mini.*\) {2}steady, 0\.0 nats\n/)
    const sent = readFileSync(at('metrics.jsonl'), 'utf8')
    expect(sent).toContain('"name":"spanscore.canary.judged"')
    expect(sent).toContain('"stringValue":"prompt_alignment"')
    expect(await canary('--fail-under', 'prompt_alignment=0.99')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/agrees with people on 0\.\d+ of the runs, which is below 0\.99/),
    })
  })

  it('reveal a judge that has become lenient', async () => {
    const honest = answer
    answer = (request) => answerJudge({ ...request, userText: withoutWhatItFinds(request.userText) })
    const { code, stdout } = await canary('--json')
    answer = honest
    expect(code).toBe(1)
    const { judges } = JSON.parse(stdout) as {
      judges: { status: string; evidence: number; fail: { agreed: number } }[]
    }
    expect(judges).toMatchObject([{ status: 'drifted', fail: { agreed: 0 } }])
    expect(judges[0]?.evidence).toBeGreaterThan(13)
  })

  it('are not compared if a judge answers as another model, or does not answer', async () => {
    const other = at('other.config.ts')
    writeFileSync(other, readFileSync(at('spanscore.config.ts'), 'utf8').replace("'gpt-5-mini'", "'gpt-5-nano'"))
    const found = await run('canary', canaryFile, '--config', other, '--calibration', calibrationFile)
    expect(found).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/uncalibrated: Calibrated are: prompt_alignment/),
    })
    const missing = await run('canary', canaryFile, '--config', other, '--calibration', at('none.json'))
    expect(missing).toMatchObject({ code: 1, stdout: expect.stringMatching(/got \S+none\.json, which does not exist/) })
    const honest = answer
    answer = () => ({ status: 401, error: { message: 'no', type: 'invalid_request_error' } }) as never
    const unjudged = await canary()
    answer = honest
    expect(unjudged).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/no verdict on \d+ labelled runs \(judge-auth\)/),
    })
  })
})

/** The material without the texts by which the scripted judge recognises bad answers. */
function withoutWhatItFinds(userText: string): string {
  return BAD.reduce((shorter, question) => shorter.replaceAll(question, 'A question.'), userText)
}

const calibrate = (file: string, ...more: string[]) =>
  run('calibrate', ...files, '--labels', file, '--labeller', 'ann', '--out', at('refused'), ...more)
const changed = (name: string, change: (line: Line, index: number) => Line | undefined) =>
  writeLines(
    at(name),
    readLines(labels).flatMap((line, index): readonly Line[] => {
      const found = change(line, index)
      return found === undefined ? [] : [found]
    }),
  )

describe('labels that cannot be used', { timeout: 120_000 }, () => {
  it.each([
    [
      'of unknown runs',
      (line: Line) => ({ ...line, runId: `0c0c${String(line.runId).slice(4)}` }),
      /run 0c0c.* is not in the files/,
    ],
    [
      'of scores that are not there',
      (line: Line) => ({ ...line, scorer: 'faithfulness' }),
      /has no score of faithfulness/,
    ],
    [
      'of another version',
      (line: Line) => ({ ...line, version: '99999999' }),
      /in version 99999999, and the files hold version/,
    ],
    [
      'of another judge',
      (line: Line) => ({ ...line, judgeModel: 'gpt-9' }),
      /labelled as gpt-9 judged it, and the files hold/,
    ],
    ['of a newer revision', (line: Line) => ({ ...line, revision: 2 }), /labelled in revision 2, and the files hold 1/],
    ['misspelt', (line: Line) => ({ ...line, label: 'Pass' }), /line 1: label: .*"pass".*got "Pass"/],
    [
      'of another tool',
      ({ label, note }: Line) => ({ label, note }),
      /line 1: expected a label with runId, scorer, version, revision, drawProbability, as spanscore calibrate draw writes it, got none\n$/,
    ],
    ['of another type', (line: Line) => ({ ...line, scorer: 5 }), /line 1: scorer: expected string, got 5\n$/],
    ['all left out', () => undefined, /expected lines of spanscore calibrate draw, got none/],
    ['all open', (line: Line) => ({ ...line, label: null }), /"label" of all 40 lines is still null/],
    [
      'all of one kind',
      (line: Line) => ({ ...line, label: 'pass' }),
      /people fail none of the labelled runs, so specificity/,
    ],
  ])('%s', async (name, change, expected) => {
    const { code, stderr, stdout } = await calibrate(changed(`${name}.jsonl`, change))
    expect({ code, stdout, lines: stderr.trim().split('\n').length }).toEqual({ code: 2, stdout: '', lines: 1 })
    expect(stderr).toMatch(expected)
    expect(existsSync(at('refused'))).toBe(false)
  })

  it('are too few, without a labeller, contradictory, or drawn from more than the files hold', async () => {
    const few = changed('few.jsonl', (line, index) => ({ ...line, label: index < 12 ? line.label : null }))
    expect((await calibrate(few)).stderr).toMatch(/people (?:pass|fail) only \d of the labelled runs, so s/)
    const nobody = await run('calibrate', ...files, '--labels', labels, '--out', at('refused'))
    expect(nobody.stderr).toMatch(/line 1: expected the name of the labeller .* got neither/)
    const contrary = changed('contrary.jsonl', (line) => ({ ...line, label: line.label === 'pass' ? 'fail' : 'pass' }))
    expect((await calibrate(labels, '--labels', contrary)).stderr).toMatch(
      /ann labels prompt_alignment of run .* before/,
    )
    const rare = changed('rare.jsonl', (line) => ({ ...line, drawProbability: 0.01 }))
    expect((await calibrate(rare)).stderr).toMatch(
      /drawn from some [\d,]+ runs that the judge passes, and the files hold 30/,
    )
    expect(existsSync(at('refused'))).toBe(false)
  })

  it('stand beside what users say, which is shown and is no label', async () => {
    const events = readLines(drawn)
      .slice(0, 10)
      .map(({ runId }, index) => {
        const [traceId, spanId] = String(runId).split(':')
        const attributes = [
          { key: 'gen_ai.evaluation.name', value: { stringValue: 'thumbs' } },
          { key: 'gen_ai.evaluation.score.value', value: { doubleValue: index % 2 } },
          { key: 'gen_ai.evaluation.score.label', value: { stringValue: index % 2 === 0 ? 'fail' : 'pass' } },
          { key: 'gen_ai.evaluation.evaluator.type', value: { stringValue: 'user' } },
        ]
        const logRecord = { traceId, spanId, eventName: 'gen_ai.evaluation.result', timeUnixNano: '1', attributes }
        return { resourceLogs: [{ scopeLogs: [{ scope: { name: 'spanscore' }, logRecords: [logRecord] }] }] }
      })
    const feedback = writeLines(at('feedback.jsonl'), events)
    const argv = ['calibrate', ...files, feedback, '--labels', labels, '--labeller', 'ann', '--out', at('said')]
    const { code, stdout } = await run(...argv)
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /prompt_alignment [0-9a-f]{8} \(gpt-5-mini.*\) and the feedback thumbs agree in \d of 10 answers of users: users fail \d that it passes, and pass \d that it fails\.\n/,
    )
    expect(stdout).toContain('Runs with feedback are no random sample, so feedback counts for no calibration.')
    expect(JSON.parse(readFileSync(at('said/spanscore.calibration.json'), 'utf8')).calibrations[0].confusion).toEqual(
      readCalibration()?.confusion,
    )
    const given = writeLines(at('given.jsonl'), [{ runId: 'x', name: 'thumbs', value: false }])
    expect((await calibrate(given)).stderr).toMatch(/line 1: expected a label, got a user's feedback/)
  })

  it('of two people are compared, and the majority counts', async () => {
    const bob = changed('bob.jsonl', (line, index) => ({
      ...line,
      labeller: 'bob',
      label: index % 8 === 0 ? (line.label === 'pass' ? 'fail' : 'pass') : line.label,
    }))
    const { code, stdout } = await calibrate(labels, '--labels', bob, '--out', at('two'))
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /ann, bob labelled 40 of the runs together and agree on 88 % of their pairs, Krippendorff’s α 0\.7\d/,
    )
  })

  it('are complete labels by the schema once a person is named', () => {
    const [line] = readLines(labels)
    const complete = { ...line, labeller: 'ann', labelledAt: '2026-11-22T09:00:00Z' }
    expect(labelSchema.safeParse(complete).success).toBe(true)
  })
})
