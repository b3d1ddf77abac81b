import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

import { configDirectory, program } from '../../scripts/stack.ts'

const environment = { ...process.env, QUEUE_DIRECTORY: '/tmp', EVALUATIONS_FILE: '/tmp/evaluations.jsonl' }
/** Throws an error with the program's output if its exit code is not 0. */
const run = (file: string, ...args: string[]) =>
  execFileSync(file, args, { cwd: configDirectory, env: environment, encoding: 'utf8', stdio: 'pipe' })

/** `docker compose`, or `docker-compose` of version 2; its `config` needs no engine. */
const compose = [['docker', 'compose'], ['docker-compose']].find(([file = '', ...args]) => {
  try {
    return /v?2\.\d/.test(run(file, ...args, 'version'))
  } catch {
    return false
  }
})

describe('the real programs take the shipped files', () => {
  it.each([
    ['the Collector', ['otel-collector.yaml']],
    ['the Collector with tail sampling', ['otel-collector.yaml', 'otel-collector-tail-sampling.yaml']],
  ])('%s', (_, files) => {
    expect(run(program('otelcol'), 'validate', ...files.flatMap((file) => ['--config', file]))).toBe('')
  })

  it('the Collector refuses one with a wrong key', () => {
    const wrong = ['--config', 'otel-collector.yaml', '--config', 'yaml:receivers::otlp::protocolls: {}']
    expect(() => run(program('otelcol'), 'validate', ...wrong)).toThrow(/protocolls/)
  })

  it('Jaeger', () => {
    expect(run(program('jaeger'), 'validate', '--config', 'jaeger/jaeger.yaml')).toBe('')
  })

  it('Prometheus', () => {
    expect(run(program('promtool'), 'check', 'config', 'prometheus.yml')).toContain('SUCCESS')
  })

  it('Alertmanager', () => {
    expect(run(program('amtool'), 'check-config', 'alertmanager.yml')).toContain('SUCCESS')
  })

  it.skipIf(compose === undefined)('docker compose', () => {
    const [file = '', ...args] = compose ?? []
    expect(run(file, ...args, '--file', join(configDirectory, 'docker-compose.yml'), 'config', '--quiet')).toBe('')
  })
})
