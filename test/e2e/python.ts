import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { cacheDirectory } from '../../scripts/e2e-tools.ts'

const run = promisify(execFile)
const folder = join(import.meta.dirname, 'python')

/** A Python with the packages of the requirements, made once for each content of that file. @returns Its `bin` directory. */
export async function pythonWithPackages(file = 'requirements.txt'): Promise<string> {
  const requirements = join(folder, file)
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12)
  const environment = join(cacheDirectory, `python-${hash}`)
  if (!existsSync(join(environment, 'complete'))) {
    rmSync(environment, { recursive: true, force: true })
    await run('python3', ['-m', 'venv', environment])
    await run(join(environment, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', '-r', requirements], {
      maxBuffer: 64 * 1024 * 1024,
    })
    await run('touch', [join(environment, 'complete.tmp')])
    renameSync(join(environment, 'complete.tmp'), join(environment, 'complete'))
  }
  return join(environment, 'bin')
}

/** Runs an application as its users do: with OpenTelemetry's own launcher, which reads the environment. */
export async function runPython(app: string, environment: Readonly<Record<string, string>>): Promise<string> {
  const bin = await pythonWithPackages()
  const { stdout } = await run(join(bin, 'opentelemetry-instrument'), [join(bin, 'python'), join(folder, app)], {
    env: {
      ...process.env,
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'otlp',
      OPENAI_AGENTS_DISABLE_TRACING: '0',
      OPENAI_API_KEY: 'scripted',
      ...environment,
    },
    maxBuffer: 16 * 1024 * 1024,
  })
  return stdout
}
