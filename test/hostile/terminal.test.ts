import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

import { afterAll, describe, expect, it } from 'vitest'

import { runCommand } from '../fixtures/run-command.ts'

const root = resolve(import.meta.dirname, '../..')
const directory = mkdtempSync(join(tmpdir(), 'spanscore-terminal-'))
afterAll(() => rmSync(directory, { recursive: true }))

/**
 * This sets a title, clears the screen, and holds a colour, a link, a bell, text that overwrites its line, reversed text, and lines that GitHub
 * Actions obeys.
 */
const EVIL =
  '\u001B]0;owned\u0007\u001B[2J\u009B31m\u001B]8;;https://attacker.example\u001B\\link\u0008\r\u202Egnp\u2066\u200B' +
  '\n::error::owned\n  ::stop-commands::x\r\n##[set-env name=A]b\n'

/** Lines that GitHub Actions obeys: it trims them first. */
const COMMANDS = /^\s*::|##\[/m

// oxlint-disable-next-line no-control-regex -- the test looks for these characters
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

const evil = (name: string): string => `${name}${EVIL}`
const text = (key: string, value: string): object => ({ key, value: { stringValue: value } })
const json = (key: string, value: unknown): object => text(key, JSON.stringify(value))

function span(
  spanId: string,
  parentSpanId: string | undefined,
  name: string,
  attributes: object[],
  error?: string,
): object {
  return {
    traceId: 'a'.repeat(32),
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name: evil(name),
    kind: 1,
    startTimeUnixNano: '1790000000000000000',
    endTimeUnixNano: '1790000001000000000',
    attributes,
    status: error === undefined ? {} : { code: 2, message: error },
    events:
      error === undefined
        ? []
        : [
            {
              name: 'exception',
              timeUnixNano: '1790000000500000000',
              attributes: [text('exception.type', evil('Type')), text('exception.message', error)],
            },
          ],
  }
}

const said = (role: string, part: object): object => ({ role, parts: [part] })
const agent = 'b'.repeat(16)
/** A trace with everything that a stranger may write into it, or that a provider or tool may answer. */
const traces = {
  resourceSpans: [
    {
      resource: { attributes: [text('service.name', evil('service')), text('service.version', evil('1'))] },
      scopeSpans: [
        {
          scope: { name: evil('scope'), version: evil('2') },
          spans: [
            span('c'.repeat(16), agent, 'chat', [
              text('gen_ai.operation.name', 'chat'),
              text('gen_ai.request.model', evil('model')),
              text('gen_ai.response.model', evil('answering-model')),
              json('gen_ai.response.finish_reasons', [evil('stop')]),
              json('gen_ai.input.messages', [said('user', { type: 'text', content: evil('question') })]),
              json('gen_ai.output.messages', [
                said('assistant', {
                  type: 'tool_call',
                  id: evil('c1'),
                  name: evil('tool'),
                  arguments: { [evil('key')]: evil('value') },
                }),
              ]),
            ]),
            span(
              'd'.repeat(16),
              agent,
              'execute_tool',
              [
                text('gen_ai.operation.name', 'execute_tool'),
                text('gen_ai.tool.name', evil('tool')),
                text('gen_ai.tool.call.id', evil('c1')),
              ],
              evil('the tool failed'),
            ),
            span(agent, undefined, 'invoke_agent', [
              text('gen_ai.operation.name', 'invoke_agent'),
              text('gen_ai.agent.name', evil('agent')),
              text('gen_ai.agent.version', evil('3')),
              text('gen_ai.conversation.id', evil('conversation')),
              text('user.id', evil('user')),
              json('gen_ai.input.messages', [said('user', { type: 'text', content: evil('question') })]),
              json('gen_ai.output.messages', [said('assistant', { type: 'text', content: evil('answer') })]),
              { key: 'spanscore.earlier.score', value: { doubleValue: 0 } },
              text('spanscore.earlier.label', 'fail'),
              text('spanscore.earlier.explanation', evil('because')),
              text(`spanscore.${evil('odd')}.status`, evil('failed')),
              text('spanscore.late.status', 'failed'),
              text('spanscore.late.status_reason', evil('judge-http')),
              text('spanscore.late.status_message', evil('no answer')),
            ]),
          ],
        },
      ],
    },
  ],
}

function file(name: string, content: string): string {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}

const path = file('traces.json', JSON.stringify(traces))
const config = file(
  'spanscore.config.ts',
  `import * as prebuilt from '${root}/src/entries/scorers.ts'
   import { createScorer } from '${root}/src/entries/main.ts'
   const evil = ${JSON.stringify(EVIL)}
   export default { scorers: [
     prebuilt.createToolErrorsScorer(),
     prebuilt.createAbandonedScorer(),
     createScorer({ id: 'chats', description: 'd', version: '1', level: 'conversation' }).generateScore(() => 0).generateReason(({ run }) => 'no ' + run.output),
     prebuilt.createLoopScorer(),
     prebuilt.createHallucinatedToolScorer({ tools: ['weather' + evil] }),
     prebuilt.createKeywordCoverageScorer({ keywords: ['rain' + evil] }),
     createScorer({ id: 'reasons', description: 'd' + evil, version: '1' + evil }).generateScore(() => 0).generateReason(({ run }) => 'no ' + run.output),
     createScorer({ id: 'throws', description: 'd', version: '1' }).generateScore(({ run }) => { throw new Error('cannot ' + run.output) }),
   ] }
  `,
)

/** The output of a command on a terminal or into a pipe. */
async function shown(argv: readonly string[], isTTY: boolean): Promise<string> {
  const { stdout, stderr } = await runCommand(argv, { isTTY, columns: 100 })
  return stdout + stderr
}

describe('a terminal gets no escape sequence, control or direction mark of a trace', () => {
  it.each([
    ['inspect', path],
    ['inspect', path, '--json'],
    ['inspect', path, '--agent', evil('nobody')],
    ['score', path, '--config', config],
    ['score', path, '--config', config, '--json'],
    ['score', path, '--config', config, '--fail-under', 'reasons=0.5', '--fail-under', 'throws=0.5'],
    ['score', path, '--config', config, '--where', `agent=${evil('nobody')}`],
    ['calibrate', path, '--labels', path],
    ['doctor', path],
    [evil('command')],
    ['inspect', evil('/tmp/no-file')],
  ])('spanscore %s', async (...argv) => {
    const given = argv.filter((each) => each !== undefined)
    const piped = await shown(given, false)
    expect(piped).not.toMatch(CONTROLS)
    expect(piped).not.toMatch(COMMANDS)
    // On a terminal only the colours and the progress line of our own remain.
    const onTerminal = await shown(given, true)
    expect(onTerminal.replaceAll(OWN, '')).not.toMatch(CONTROLS)
    expect(onTerminal.replaceAll(OWN, '')).not.toMatch(COMMANDS)
    expect(stripVTControlCharacters(onTerminal)).toMatch(/\S/)
  })

  it('a terminal is also safe when a JUnit report or OTLP scores are printed with cat', async () => {
    const files = ['junit.xml', 'scores.jsonl', 'report.md', 'cases.jsonl'].map((name) => join(directory, name))
    const [junit = '', out = '', markdown = '', cases = ''] = files
    const reports = ['--junit', junit, '--out', out, '--markdown', markdown]
    await shown(['score', path, '--config', config, ...reports], false)
    await shown(['cases', path, '--out', cases], false)
    for (const written of files.map((each) => readFileSync(each, 'utf8'))) {
      expect(written).not.toMatch(CONTROLS)
      expect(written).not.toMatch(COMMANDS)
      expect(written).toContain('answer')
    }
    for (const tool of ['promptfoo', 'langfuse', 'deepeval'])
      expect(await shown(['cases', 'convert', cases, '--to', tool], false)).not.toMatch(COMMANDS)
  })
})

// oxlint-disable-next-line no-control-regex -- colours and styles of `styleText`, and a line that is written over
const OWN = /\u001B\[(?:0|1|2|3|4|7|22|23|24|27|3[0-79]|9[0-7])m|\r(?:(?:reading|scoring:) \P{Cc}*)?\u001B\[K/gu
