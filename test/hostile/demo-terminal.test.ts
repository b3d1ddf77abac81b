import { stripVTControlCharacters } from 'node:util'

import type { ReceivedSpan } from 'spanscore/testing'
import stringWidth from 'string-width'
import { expect, test, vi } from 'vitest'

import { plain } from '../../examples/demo/plain.ts'
import { printRun } from '../../examples/demo/report.ts'

/** This sets a title, clears the screen, and holds a colour, a link, a bell, overwritten lines, reversed text, and half a character. */
const EVIL =
  '\u001B]0;owned\u0007\u001B[2J\u009B31m\u001B]8;;https://attacker.example\u001B\\link\u0008\r\nfaked line\u2028\u202Egnp\u2066\u061C\uD800'
const HUGE = 'x'.repeat(200_000)
const evil = (name: string): string => `${name}${EVIL}${HUGE}`

// oxlint-disable-next-line no-control-regex -- the test looks for these characters
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/
// oxlint-disable-next-line no-control-regex -- colours and styles of `styleText`
const OWN = /\u001B\[(?:0|1|2|3|4|7|22|23|24|27|3[0-79]|9[0-7])m/g

const messages = (role: string): string =>
  JSON.stringify([{ role, parts: [{ type: 'text', content: evil('question') }] }])

function runNamed(name: string, scope: string): ReceivedSpan {
  const attributes = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': name,
    'gen_ai.input.messages': messages('user'),
    'gen_ai.output.messages': messages('assistant'),
    'spanscore.reasons.score': 0,
    'spanscore.reasons.label': 'fail',
    'spanscore.reasons.explanation': evil('because'),
    'spanscore.text.score': evil('1'),
    'spanscore.late.status': evil('failed'),
    'spanscore.late.status_reason': evil('judge-http'),
    'spanscore.late.status_message': evil('no answer'),
    [`spanscore.${'y'.repeat(100_000)}.score`]: 1,
  }
  // What the demo reads of a span that it received.
  return {
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    parentSpanId: 'c'.repeat(16),
    name: evil('invoke_agent'),
    attributes,
    events: [],
    scope: { name: scope },
    status: { code: 'unset' },
    resource: {},
    startTimeMs: 0,
    endTimeMs: 1,
  } as unknown as ReceivedSpan
}

test('the demo prints no escape sequence, control, direction mark or very long name of what it received', () => {
  const printed: string[] = []
  vi.spyOn(console, 'log').mockImplementation((text: unknown = '') => void printed.push(String(text)))
  printRun(runNamed(evil('agent'), 'an application'))
  printRun(runNamed('', 'spanscore'))
  vi.restoreAllMocks()
  const lines = printed.flatMap((text) => text.split('\n'))
  expect(lines.length).toBeGreaterThan(20)
  expect(lines.length).toBeLessThan(400)
  expect(lines.join(' ')).toContain('because')
  for (const line of lines) {
    expect(line.replaceAll(OWN, '')).not.toMatch(CONTROLS)
    expect(line.isWellFormed()).toBe(true)
    expect(stringWidth(stripVTControlCharacters(line))).toBeLessThan(250)
    expect(line).not.toMatch(/^faked line/)
  }
})

test('a text is printed on one line, and is cut if it is very long', () => {
  expect(plain('one\ntwo\tthree  four')).toBe('one two three four')
  expect(plain('👩‍🚀 Zażółć शक्ति')).toBe('👩‍🚀 Zażółć शक्ति')
  expect(plain(HUGE).length).toBeLessThan(5000)
  expect(plain(HUGE, 10)).toBe('xxxxxxxxxx…')
})
