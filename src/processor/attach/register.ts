import { diag } from '@opentelemetry/api'

import { show } from '../../scoring/format-value.ts'
import { attachScoring } from './attach.ts'
import { loadConfigFile, thisProcess } from '../config/config-file.ts'
import { isOn, optionsFromEnvironment, withEnvironment } from '../config/environment.ts'
import { onTracerProvider } from './on-tracer-provider.ts'
import type { ScoringOptions } from '../config/scoring-options.ts'

/** How long a program may take to register its tracer provider before its absence is said. */
const PATIENCE_MS = 30_000

/**
 * Attaches scoring, as the configuration file and the environment say, to the tracer provider that this program registers
 * or has registered. Never throws: what goes wrong is one `diag.error`, and the application runs unscored.
 *
 * The configuration file is read when the provider is there and not before: what it imports is then seen by the
 * instrumentations, whichever was preloaded first, and `diag` has a logger by which to say what is wrong.
 */
export function register(): void {
  if (isOn(process.env['OTEL_SDK_DISABLED']) || isOn(process.env['SPANSCORE_DISABLED'])) return
  guarded(() => {
    let isFound = false
    onTracerProvider((provider) => {
      isFound = true
      guarded(() => attachTo(provider))
    })
    if (!isFound) sayWhenMissing(() => isFound)
  })
}

function attachTo(provider: object): void {
  const log = diag.createComponentLogger({ namespace: 'spanscore' })
  const file = loadConfigFile(thisProcess())
  const environment = optionsFromEnvironment(process.env, (message) => log.warn(message))
  const options: unknown = { tracerProvider: provider, ...withEnvironment(file, environment) }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- attachScoring checks every property of it
  attachScoring(options as ScoringOptions)
}

function sayWhenMissing(isFound: () => boolean): void {
  function say(): void {
    clearTimeout(timer)
    process.removeListener('beforeExit', say)
    if (!isFound()) {
      complain('no tracer provider has been registered, so there is nothing to score; start the OpenTelemetry SDK')
    }
  }
  const timer = setTimeout(say, PATIENCE_MS).unref()
  process.once('beforeExit', say)
}

function guarded(run: () => void): void {
  try {
    run()
  } catch (error) {
    complain(error instanceof Error ? error.message : show(error))
  }
}

function complain(what: string): void {
  const log = diag.createComponentLogger({ namespace: 'spanscore' })
  log.error(`spanscore/register: ${what.replace(/\.$/, '')}. The application runs unscored.`)
}
