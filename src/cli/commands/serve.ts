import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

import { isRecord } from '../../spans/json.ts'
import type { CliCommand, ExitCode } from '../command.ts'
import { forwardSignals } from '../forward-signals.ts'
import { UsageError } from '../usage-error.ts'

const PACKAGE = '@spanscore/server'

/** `spanscore serve …`: starts the service, which is a separate package, with the same arguments. */
export const serveCommand: CliCommand = {
  name: 'serve',
  declare: (command, context, finish) => {
    command
      .summary(`start the service (${PACKAGE})`)
      .description(
        `Starts ${PACKAGE}, which takes OTLP from agents in any language and scores their runs. All options are passed on: ` +
          'spanscore serve -- --help lists them.',
      )
      .argument('[options...]', 'options of the service')
      .allowUnknownOption()
      .passThroughOptions()
      .action(async (words: readonly string[]) => finish(await serve(words, context.environment)))
  },
}

async function serve(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ExitCode> {
  const service = spawn(process.execPath, [serviceProgram(), ...words], { stdio: 'inherit', env: environment })
  const stop = forwardSignals(service)
  const [code]: unknown[] = await once(service, 'exit')
  stop()
  return code === 0 || code === 1 ? code : 2
}

/** Path of the service program that is installed for the working directory. */
function serviceProgram(): string {
  try {
    const manifest = createRequire(join(process.cwd(), 'index.js')).resolve(`${PACKAGE}/package.json`)
    const parsed: unknown = JSON.parse(readFileSync(manifest, 'utf8'))
    const bin = isRecord(parsed) && isRecord(parsed['bin']) ? parsed['bin']['spanscore-server'] : undefined
    if (typeof bin === 'string') return join(dirname(manifest), bin)
  } catch {}
  throw new UsageError(`${PACKAGE} is not installed here: npm install ${PACKAGE}`)
}
