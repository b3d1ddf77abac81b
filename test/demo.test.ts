import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'

describe('the demo', () => {
  let shown: string

  beforeAll(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['examples/demo/main.ts'], {
      cwd: resolve(import.meta.dirname, '..'),
      env: { ...process.env, OPENAI_API_KEY: '', OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    })
    shown = stdout
  }, 60_000)

  const numbersIn = (pattern: RegExp): number[] => (pattern.exec(shown) ?? []).slice(1).map(Number)
  const count = (pattern: RegExp): number => shown.match(pattern)?.length ?? 0

  it('counts what it printed', () => {
    const [runs, nested, scorers, evaluations] = numbersIn(
      /(\d+) runs \((\d+) of them started by another agent\) × (\d+) scorers = (\d+) evaluations/,
    )
    const printedRuns = count(/^\S+-agent {2}\S/gm)
    expect(runs).toBe(printedRuns)
    expect(nested).toBe(count(/\(asked by another agent\)$/gm))
    expect(evaluations).toBe((runs ?? 0) * (scorers ?? 0))
    const [scored, passed, failed] = numbersIn(/(\d+) scored: (\d+) pass, (\d+) fail/)
    expect(passed).toBe(count(/^ {2}pass +[a-z_]+(?: ↓)? +\d/gm))
    expect(failed).toBe(count(/^ {2}fail +[a-z_]+(?: ↓)? +\d/gm))
    expect(scored).toBe((passed ?? 0) + (failed ?? 0))
    expect(numbersIn(/(\d+) gen_ai\.evaluation\.result events/)).toEqual([scored])
  })

  it('shows the share of failing runs, the worst agent first, and no mark of a gate', () => {
    expect(shown).toMatch(/^support-agent\n(?: {2}.*\n)* {2}tool_errors ↓ +50 % █████ +2 +0\.50 /m)
    expect(shown).not.toMatch(/[✓✗]/)
  })

  it('explains why runs were skipped', () => {
    const [skipped] = numbersIn(/(\d+) skipped on purpose:/)
    const reasons = [...shown.matchAll(/^ {4} *(\d+) {2}(.+) \(([a-z-]+)\)$/gm)]
    expect(reasons.reduce((sum, [, number]) => sum + Number(number), 0)).toBe(skipped)
    expect(reasons.map(([, , meaning]) => meaning)).not.toContain('see docs')
  })

  it('gives the complete reason of each failure, and ends with four things to try', () => {
    const failures = shown
      .split(/^(?= {2}(?:pass|fail|skipped) )/m)
      .filter((part) => /^ {2}fail +[a-z_]+ +\d/.test(part))
    expect(failures.length).toBeGreaterThan(5)
    for (const failure of failures) expect(failure).toMatch(/^ {2}fail .*\n {6}\S(?:.*\n {6})*.*[.?)]\n/)
    expect(shown).not.toContain('…\n')
    expect(count(/^ {2}[1-9]\. /gm)).toBe(4)
    expect(shown.slice(shown.indexOf('Try next'))).not.toMatch(/.{81}/)
  })
})
