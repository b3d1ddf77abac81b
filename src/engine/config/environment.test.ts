import { describe, expect, test } from 'vitest'

import { formatValue } from '../../scoring/format-value.ts'
import { isOn, optionsFromEnvironment, reportUnusedVariables, withEnvironment } from './environment.ts'

function read(environment: Record<string, string>) {
  const warnings: string[] = []
  const options = optionsFromEnvironment(environment, (message) => warnings.push(message))
  return { options, warnings }
}

describe('The SPANSCORE_* variables', () => {
  test('set options, including several of one object', () => {
    expect(
      read({
        SPANSCORE_SAMPLE: '0.05',
        SPANSCORE_SAMPLE_SALT: 'a secret',
        SPANSCORE_MEMORY_BYTES: ' 1500 ',
        SPANSCORE_STRIP_CONTENT: 'TRUE',
        SPANSCORE_BUDGET_USD_PER_DAY: 'Infinity',
        SPANSCORE_BUDGET_SHARE: '0.025',
        SPANSCORE_EMIT_EXPLANATIONS: 'code',
        UNRELATED: '1',
      }),
    ).toEqual({
      options: {
        sample: 0.05,
        sampleSalt: 'a secret',
        memoryBytes: 1500,
        stripContent: true,
        budget: { usdPerDay: Number.POSITIVE_INFINITY, share: 0.025 },
        emit: { explanations: 'code' },
      },
      warnings: [],
    })
  })

  test('that are blank are unset', () => {
    expect(read({ SPANSCORE_SAMPLE: '', SPANSCORE_STRIP_CONTENT: '  ' })).toEqual({ options: {}, warnings: [] })
  })

  test.each([
    ['SPANSCORE_SAMPLE', '5', '0, or a number from 0.001 to 1'],
    ['SPANSCORE_SAMPLE', 'five', '0, or a number from 0.001 to 1'],
    ['SPANSCORE_UPSTREAM_PROBABILITY', '0', "'tracestate', or a number above 0 and at most 1"],
    ['SPANSCORE_STRIP_CONTENT', 'yes', 'true or false'],
    ['SPANSCORE_MEMORY_BYTES', '64MB', 'a number, 0 or more, or Infinity'],
    ['SPANSCORE_EMIT_EXPLANATIONS', 'some', 'one of all, code, none'],
  ])('%s=%s is reported as wrong, and ignored', (variable, text, expected) => {
    expect(read({ [variable]: text })).toEqual({
      options: {},
      warnings: [`${variable}: expected ${expected}, got ${formatValue(text)}; it is ignored.`],
    })
  })

  test('that are misspelt are reported with the name that was probably meant', () => {
    expect(read({ SPANSCORE_SAMPEL: '0.1', SPANSCORE_CONFG: 'a.mjs', SPANSCORE_MINE: '1' })).toEqual({
      options: {},
      warnings: [
        'SPANSCORE_SAMPEL: expected SPANSCORE_SAMPLE, got an unknown variable; it is ignored.',
        'SPANSCORE_CONFG: expected SPANSCORE_CONFIG, got an unknown variable; it is ignored.',
      ],
    })
  })

  test('that have the name of an option without a variable are reported with the option', () => {
    expect(read({ SPANSCORE_HOLD_MS: '1' })).toEqual({
      options: {},
      warnings: ['SPANSCORE_HOLD_MS: no variable sets holdMs; set it where the scorers are.'],
    })
  })

  test('take precedence over the file, for each limit separately', () => {
    const file = { sample: 1, budget: { usdPerDay: 5, callsPerMinute: 30 }, emit: { events: false } }
    expect(withEnvironment(file, { sample: 0.1, budget: { usdPerDay: 1 } })).toEqual({
      sample: 0.1,
      budget: { usdPerDay: 1, callsPerMinute: 30 },
      emit: { events: false },
    })
  })

  test('are read as booleans by the rules of the specification', () => {
    expect(['true', 'TRUE', ' True '].map(isOn)).toEqual([true, true, true])
    expect([undefined, '', 'false', '1', 'yes'].map(isOn)).toEqual([false, false, false, false, false])
  })
})

function report(options: object, environment: Record<string, string>): string[] {
  const warnings: string[] = []
  reportUnusedVariables(options, environment, (message) => warnings.push(message))
  return warnings
}

describe('Variables that have no effect', () => {
  test('are reported with the option to set', () => {
    expect(
      report({ sample: 1 }, { SPANSCORE_SAMPLE: '0.1', SPANSCORE_BUDGET_SHARE: '0.5', SPANSCORE_DISABLED: 'true' }),
    ).toEqual([
      'SPANSCORE_SAMPLE: only spanscore/register reads it, and this application attaches in its code: set sample there.',
      'SPANSCORE_BUDGET_SHARE: only spanscore/register reads it, and this application attaches in its code: set budget.share there.',
      'SPANSCORE_DISABLED: only spanscore/register reads it, and this application attaches in its code.',
    ])
  })

  test('are reported if they are misspelt or wrong', () => {
    expect(report({}, { SPANSCORE_SAMPEL: '0.1', SPANSCORE_STRIP_CONTENT: 'yes' })).toEqual([
      'SPANSCORE_STRIP_CONTENT: expected true or false, got "yes"; it is ignored.',
      'SPANSCORE_SAMPEL: expected SPANSCORE_SAMPLE, got an unknown variable; it is ignored.',
    ])
  })

  test('are not reported if the option has the same value, as with register', () => {
    const environment = { SPANSCORE_SAMPLE: '0.1', SPANSCORE_STRIP_CONTENT: 'true', SPANSCORE_BUDGET_SHARE: '0.5' }
    const options = withEnvironment({ sample: 1, budget: { usdPerDay: 1 } }, read(environment).options)
    expect(report(options, environment)).toEqual([])
  })
})
