import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
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

type Environment = Readonly<Record<string, string>>

/** The command and environment of an application as its users start it: with OpenTelemetry's own launcher, which reads the environment. */
async function launched(app: string, environment: Environment) {
  const bin = await pythonWithPackages()
  const env = {
    ...process.env,
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'otlp',
    OPENAI_AGENTS_DISABLE_TRACING: '0',
    OPENAI_API_KEY: 'scripted',
    ...environment,
  }
  return { command: join(bin, 'opentelemetry-instrument'), args: [join(bin, 'python'), join(folder, app)], env }
}

/** Runs an application to its end. @returns What it prints. */
export async function runPython(app: string, environment: Environment): Promise<string> {
  const { command, args, env } = await launched(app, environment)
  const { stdout } = await run(command, args, { env, maxBuffer: 16 * 1024 * 1024 })
  return stdout
}

/** An application that answers each line that it reads with a line. */
export interface PythonChat extends AsyncDisposable {
  readonly say: (text: string) => Promise<string>
}

export async function startPythonChat(app: string, environment: Environment): Promise<PythonChat> {
  const { command, args, env } = await launched(app, environment)
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    say: async (text) => {
      child.stdin.write(`${text}\n`)
      const { value, done } = await answers.next()
      if (done === true) throw new Error(`expected ${app} to answer ${text}, it ended`)
      return value
    },
    [Symbol.asyncDispose]: async () => {
      child.stdin.end()
      await ended
    },
  }
}
