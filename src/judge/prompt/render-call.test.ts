import { describe, expect, it } from 'vitest'

import { call, runOf } from '../../../test/fixtures/code-runs.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import { fitSections } from './fit-sections.ts'
import { callFragments } from './render-call.ts'
import { toolCallsSection, withoutAnswer } from './render-run.ts'

const textOf = (run: AgentRun): string =>
  toolCallsSection(run, { handOver: ['transfer'] })
    .flatMap(({ fragments }) => fragments.map(({ text }) => text))
    .join('')

const agent = (name: string, more: Partial<AgentRun> = {}): AgentRun => runOf({ id: name, agent: { name }, ...more })

describe('a call in a prompt', () => {
  it('shows what agents that it started called and answered, at its place and with their names', () => {
    const writer = agent('writer', { parent: { runId: 'root', toolCallId: 'c1' }, output: 'Done.' })
    const inner = agent('finder', {
      toolCalls: [call('search', { q: 'x' }, { status: 'error', error: { message: 'down' } })],
    })
    const toolCalls = [
      call('ask', { task: 't' }, { id: 'c1', result: 'Done.' }),
      call('transfer', {}, { agentName: 'desk' }),
    ]
    const children = [{ ...writer, toolCalls: [call('draft', {}, { childRunId: 'finder' })], children: [inner] }]
    expect(textOf(runOf({ toolCalls, children })).split('\n')).toEqual([
      'call_1: "ask", ok',
      '  arguments: {"task":"t"}',
      '  agent "writer":',
      '    call_1.1: "draft", ok',
      '      arguments: {}',
      '      agent "finder":',
      '        call_1.1.1: "search", error',
      '          arguments: {"q":"x"}',
      '          error: "down"',
      '        answer: "Hello"',
      '    answer: "Done."',
      '  result: "Done."',
      'call_2: "transfer" of "desk" (hands the user over to a person), ok',
      '  arguments: {}',
      '',
    ])
  })

  it('shows agents that no call started, and that a record may lack calls', () => {
    const guard = agent('guard', { toolCalls: [call('check')], missing: [{ what: 'children', why: 'limit' }] })
    const text = textOf(runOf({ children: [guard] }))
    expect(text).toContain('agent "guard":\n    call.1: "check", ok\n')
    expect(text).toContain('    (the record may lack calls)\n    answer: "Hello"')
  })

  it('names what was not recorded, so that it is not taken for absent', () => {
    const unknown = new Set(['result'])
    const shown = callFragments(call('pay', { eur: 5 }, { status: 'unknown' }), { label: 'call_1', unknown })
    expect(shown.map(({ text }) => text).join('')).toBe(
      'call_1: "pay", outcome unknown\n  arguments: {"eur":5}\n  result: (not recorded)\n',
    )
  })
})

describe('what is shown in place of an answer', () => {
  it.each([
    [[call('transfer'), call('log')], 'ok', '(no text; it handed the user over to a person by "transfer")'],
    [[call('log')], 'ok', '(no text; its last call was "log", which succeeded)'],
    [[call('transfer', {}, { status: 'error' })], 'error', '(no text; the run ended as error)'],
    [[], 'unknown', '(no text; the run ended as unknown)'],
  ] as const)('of %j', (toolCalls, status, text) => {
    expect(withoutAnswer(runOf({ toolCalls, status }), ['transfer'])).toBe(text)
  })
})

const long = (letter: string): string => letter.repeat(1000)

const fitted = (maxBytes: number) =>
  fitSections(
    [
      { title: 'instructions', fragments: [{ text: long('i'), cut: 'instructions' }] },
      {
        title: 'turns',
        fragments: [
          { text: long('m'), cut: 'message', age: 2 },
          { text: long('o'), cut: 'result', age: 2 },
          { text: long('a'), cut: 'argument', age: 1 },
          { text: long('n'), cut: 'result', age: 0 },
        ],
      },
      { title: 'answer', fragments: [{ text: long('j'), cut: 'judged' }] },
    ],
    maxBytes,
    'feedbeef',
  )
    ?.sections.map((section) => section.text)
    .join('') ?? ''

const whole = (maxBytes: number) =>
  ['i', 'm', 'o', 'a', 'n', 'j'].filter((letter) => fitted(maxBytes).includes(long(letter)))

describe('a prompt that is too long', () => {
  it('loses results first, the oldest before the others, then arguments, older messages and instructions, and the judged text last', () => {
    expect(whole(6000)).toEqual(['i', 'm', 'o', 'a', 'n', 'j'])
    expect(whole(5500)).toEqual(['i', 'm', 'a', 'n', 'j'])
    expect(whole(4400)).toEqual(['i', 'm', 'a', 'j'])
    expect(whole(3700)).toEqual(['i', 'm', 'j'])
    expect(whole(2500)).toEqual(['i', 'j'])
    expect(whole(1500)).toEqual(['j'])
    expect(fitted(5500)).toMatch(/\[feedbeef: \d+ bytes cut\]/)
  })
})
