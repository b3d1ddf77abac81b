import { spawn } from 'node:child_process'
import { once } from 'node:events'

import type { CliCommand, ExitCode } from '../command.ts'
import { forwardSignals } from '../forward-signals.ts'
import { SERVER_PACKAGE, serverFile } from '../server-package.ts'

/** `spanscore serve …`: starts the service, which is a separate package, with the same arguments. */
export const serveCommand: CliCommand = {
  name: 'serve',
  declare: (command, context, finish) => {
    command
      .summary(`start the service (${SERVER_PACKAGE})`)
      .description(
        `Starts ${SERVER_PACKAGE}, which takes OTLP from agents in any language and scores their runs. All options are passed on: ` +
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
  const service = spawn(process.execPath, [serverFile('program'), ...words], { stdio: 'inherit', env: environment })
  const stop = forwardSignals(service)
  const [code]: unknown[] = await once(service, 'exit')
  stop()
  return code === 0 || code === 1 ? code : 2
}
