import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { startProcess } from '../../server/test/kills/server-process.ts'
import { createSink } from '../../server/test/sink.ts'
import type { Sink } from '../../server/test/sink.ts'
import { cache } from './install.ts'
import { modelVariables, startWeatherModel } from './weather-model.ts'

const run = promisify(execFile)

/** Runs the agents of the example in front of a service with the example's configuration. @returns What is wrong, one sentence each. */
export async function complaintsAboutPython(example: string): Promise<string[]> {
  const agents = readdirSync(example, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const complaints: string[] = []
  for (const { name } of agents) {
    const found = await complaintsAboutAgent(join(example, name), join(example, 'spanscore.yaml'))
    complaints.push(...found.map((complaint) => `${name}: ${complaint}`))
  }
  return complaints
}

async function complaintsAboutAgent(folder: string, config: string): Promise<string[]> {
  const bin = await installPython(join(folder, 'requirements.txt'))
  await using model = await startWeatherModel()
  await using backend = await createSink()
  const data = mkdtempSync(join(tmpdir(), 'spanscore-python-'))
  const service = await startProcess(['--to', backend.url, '--config', config, '--settle', '1', '--data', data])
  try {
    const { stdout } = await run(
      join(bin, 'opentelemetry-instrument'),
      [join(bin, 'python'), join(folder, 'agent.py')],
      {
        timeout: 120_000,
        env: {
          PATH: `${bin}:${process.env['PATH']}`,
          HOME: process.env['HOME'],
          OTEL_SERVICE_NAME: 'my-agents',
          OTEL_METRICS_EXPORTER: 'none',
          OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${service.grpcPort}`,
          ...modelVariables(model),
        },
      },
    )
    const score = await firstScore(backend)
    return [
      ...(stdout.includes('It is 4 degrees in Oslo.') ? [] : [`the answer is not printed: ${stdout}`]),
      ...(score === 1 ? [] : [`the score is ${String(score)}, expected 1`]),
    ]
  } finally {
    await service.stop()
    rmSync(data, { recursive: true, force: true })
  }
}

/** The score of the first late span that arrives within a minute. */
async function firstScore(backend: Sink): Promise<unknown> {
  for (let tries = 0; tries < 600; tries += 1) {
    const late = backend.spans.find(({ name }) => name === 'evaluate tool_call_accuracy')
    if (late !== undefined) return late.attributes['gen_ai.evaluation.score.value']
    await sleep(100)
  }
  return undefined
}

/** A Python with these packages, made once for each content of the file. @returns Its `bin` folder. */
async function installPython(requirements: string): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12)
  const folder = join(cache, `python-${hash}`)
  const done = join(folder, '.installed')
  if (!existsSync(done)) {
    rmSync(folder, { recursive: true, force: true })
    await run('python3', ['-m', 'venv', folder])
    const install = ['install', '--quiet', '--disable-pip-version-check', '-r', requirements]
    await run(join(folder, 'bin/pip'), install, { maxBuffer: 64 * 1024 * 1024 })
    writeFileSync(done, '')
  }
  return join(folder, 'bin')
}
