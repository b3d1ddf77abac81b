import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { findProgram } from '../../scripts/e2e-tools.ts'
import { testFile } from './alert-scenarios.ts'

/** Runs promtool; throws if it fails. */
export const run = (...args: string[]): string =>
  execFileSync(findProgram('promtool') ?? '', args, { encoding: 'utf8', stdio: 'pipe' })

/** Lets promtool run one scenario on the shipped rules; throws an error with its output if it fails. */
export function play(test: object, everyMinutes = 1): string {
  const directory = mkdtempSync(join(tmpdir(), 'spanscore-scenario-'))
  try {
    writeFileSync(join(directory, 'test.yml'), testFile([test], everyMinutes))
    return run('test', 'rules', join(directory, 'test.yml'))
  } catch (error) {
    throw new Error(['stdout', 'stderr'].map((name) => String(Reflect.get(Object(error), name))).join('\n'), {
      cause: error,
    })
  } finally {
    rmSync(directory, { recursive: true })
  }
}
