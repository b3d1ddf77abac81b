import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

import { dashboardFiles } from '../../scripts/dashboards/main.ts'
import { findProgram } from '../../scripts/e2e-tools.ts'
import { compressTime } from '../e2e/compress-time.ts'

const rules = resolve(import.meta.dirname, '../../collector-config/rules')
const promtool = findProgram('promtool')
const run = (...args: string[]) => execFileSync(promtool ?? '', args, { cwd: rules, encoding: 'utf8', stdio: 'pipe' })

describe.skipIf(promtool === undefined)('the rules, where promtool is', () => {
  it('are rules', () => {
    expect(run('check', 'rules', ...globSync('*.yml', { cwd: rules }))).not.toContain('FAILED')
  })

  it('fire, do not fire, and recover', { timeout: 180_000 }, () => {
    expect(run('test', 'rules', 'tests/alerts.test.yml')).toContain('SUCCESS')
  })

  it('are rules still when their times are compressed for the end-to-end tests', () => {
    const directory = mkdtempSync(join(tmpdir(), 'spanscore-rules-'))
    try {
      for (const name of ['recording.yml', 'alerts.yml']) {
        const compressed = compressTime(readFileSync(join(rules, name), 'utf8'), 60)
        expect(compressed).not.toMatch(/\[\d+[mhd]\]|(?:for|interval): \d+[mhd]/)
        writeFileSync(join(directory, name), compressed)
        expect(run('check', 'rules', join(directory, name))).not.toContain('FAILED')
      }
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('and the dashboards’ expressions, are PromQL', () => {
    interface Dashboard {
      readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[]
    }
    const expressions = Object.values(dashboardFiles).flatMap((text) => {
      const { panels }: Dashboard = JSON.parse(text())
      return panels.flatMap((panel) => panel.targets ?? []).map(({ expr }) => expr)
    })
    const asRules = expressions.map((expr, index) => ({ record: `panel:${index}`, expr }))
    const file = join(tmpdir(), `spanscore-panels-${process.pid}.yml`)
    try {
      writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules: asRules }] }))
      expect(run('check', 'rules', file)).toContain(`SUCCESS: ${expressions.length} rules found`)
    } finally {
      rmSync(file, { force: true })
    }
  })
})
