import { readFileSync } from 'node:fs'

import { expect, it } from 'vitest'

import { findProgram } from '../../scripts/e2e-tools.ts'
import { prometheusRule, prometheusRuleFile, rulesFile, rulesText } from '../../scripts/rules/main.ts'
import { run } from './promtool.ts'

it('the rules equal the output of their script', () => {
  expect(readFileSync(rulesFile, 'utf8'), 'npm run rules').toBe(rulesText())
  expect(readFileSync(prometheusRuleFile, 'utf8'), 'npm run rules').toBe(prometheusRule())
})

it.skipIf(findProgram('promtool') === undefined)('the rules are accepted by promtool', () => {
  expect(run('check', 'rules', rulesFile)).not.toContain('FAILED')
})
