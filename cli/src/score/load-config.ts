import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { configFileIn, loadConfigFile, thisProcess } from '../../../src/engine/config/config-file.ts'
import { optionsFromEnvironment, withEnvironment } from '../../../src/engine/config/environment.ts'
import { resolveOptions } from '../../../src/engine/config/options.ts'
import type { ResolvedOptions } from '../../../src/engine/config/options.ts'
import type { ScoringOptions } from '../../../src/engine/config/scoring-options.ts'
import type { CommandContext } from '../command.ts'
import { safeLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'

/** The options of the configuration, or `undefined` if no file is named and none is here. */
export function findConfig(path: string | undefined, context: CommandContext): ResolvedOptions | undefined {
  const { cwd, path: fromEnvironment = '' } = thisProcess()
  const isThere = path !== undefined || fromEnvironment.trim() !== '' || configFileIn(cwd) !== undefined
  return isThere ? loadConfig(path, context) : undefined
}

/**
 * Loads options from a configuration file and `SPANSCORE_*`, with the same checks as in an application.
 *
 * @param path the file; if undefined, `SPANSCORE_CONFIG` or `spanscore.config.{ts,mts,mjs,js}` in the working directory
 * @throws UsageError if there is no file, it does not load, or an option is wrong.
 */
export function loadConfig(path: string | undefined, { environment, stderr }: CommandContext): ResolvedOptions {
  if (path !== undefined && !existsSync(resolve(path))) {
    throw new UsageError(`--config: expected the path of a configuration file, got ${path}, which does not exist`)
  }
  try {
    const host = thisProcess()
    const file = loadConfigFile(path === undefined ? host : { ...host, path })
    const fromEnvironment = optionsFromEnvironment(environment, (message) => {
      stderr.write(`spanscore: ${safeLine(message)}\n`)
    })
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- resolveOptions checks every property of it
    const options = withEnvironment(file, fromEnvironment) as unknown as ScoringOptions
    // There is no span processor here, so options that need one behind it are accepted and have no effect.
    return resolveOptions(options, true)
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
