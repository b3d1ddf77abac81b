import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { findProgram } from '../../scripts/e2e-tools.ts'
import { rulesFiles } from '../../scripts/rules/main.ts'
import type { Table } from '../../scripts/rules/table.ts'
import { testFile } from './alert-scenarios.ts'

/** The folder of the shipped rules. */
export const rules: string = resolve(import.meta.dirname, '../../collector-config/rules')

/** Runs promtool in the folder of the shipped rules; throws if it fails. */
export const run = (...args: string[]): string =>
  execFileSync(findProgram('promtool') ?? '', args, { cwd: rules, encoding: 'utf8', stdio: 'pipe' })

/** Lets promtool run one scenario on the shipped rules, or on those of another table; throws an error with its output if it fails. */
export function play(test: object, table?: Table): string {
  const directory = mkdtempSync(join(tmpdir(), 'spanscore-scenario-'))
  try {
    if (table !== undefined) {
      for (const [name, text] of Object.entries(rulesFiles(table))) writeFileSync(join(directory, name), text)
    }
    writeFileSync(join(directory, 'test.yml'), testFile(table === undefined ? rules : directory, [test]))
    return run('test', 'rules', join(directory, 'test.yml'))
  } catch (error) {
    throw new Error(String(Reflect.get(Object(error), 'stdout')), { cause: error })
  } finally {
    rmSync(directory, { recursive: true })
  }
}
