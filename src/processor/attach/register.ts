import { createRequire } from 'node:module'

import { refuseNode } from '../../model/node-version.ts'
import { formatValue } from '../../scoring/format-value.ts'
import { attachScoring } from './attach.ts'
import { loadConfigFile, thisProcess } from '../../engine/config/config-file.ts'
import { isOn, optionsFromEnvironment, withEnvironment } from '../../engine/config/environment.ts'
import type { EnvironmentOptions } from '../../engine/config/environment.ts'
import { notify, notifyVariable } from '../../engine/notices/notify.ts'
import { onTracerProvider } from './on-tracer-provider.ts'
import { globalTracerProvider } from './tracer-providers.ts'
import type { ScoringOptions } from '../../engine/config/scoring-options.ts'

const PATIENCE_MS = 30_000

/** Milliseconds between two looks for a provider that was registered in a way that is not watched. */
const LOOK_MS = 20

/**
 * Attaches scoring to the tracer provider that this program has registered or will register, and to each that replaces it, with the options of the configuration file and
 * the environment. Never throws: errors are reported, and the application runs unscored.
 *
 * The configuration file is only read once the provider exists. So instrumentations can patch what it imports, whatever the order of
 * preloading, and `diag` has its logger if the application sets one.
 *
 * @param patienceMs milliseconds before a missing provider is reported
 */
export function register(patienceMs: number = PATIENCE_MS): void {
  if (isOn(process.env['OTEL_SDK_DISABLED']) || isOn(process.env['SPANSCORE_DISABLED'])) return
  guarded(() => {
    let isFound = false
    const found = (provider: object): void => {
      isFound = true
      guarded(() => attachTo(provider))
    }
    onTracerProvider(found)
    const isThere = (): boolean => {
      const provider = isFound ? undefined : globalTracerProvider()
      if (provider !== undefined) found(provider)
      return isFound
    }
    if (!isFound) lookAgain(isThere, patienceMs)
  })
}

function attachTo(provider: object): void {
  const refusal = refuseNode()
  if (refusal !== undefined) {
    complain('SPANSCORE_NODE_VERSION', refusal)
    return
  }
  // The processor reports invalid variables, however it is attached.
  const environment = optionsFromEnvironment(process.env, () => {})
  const file = loadFile()
  const options: unknown = { tracerProvider: provider, ...withEnvironment(file, environment) }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- attachScoring checks every property of it
  attachScoring(options as ScoringOptions)
}

/** Loads the configuration file. If that fails, it also reports misspelt variables: SPANSCORE_CONFIG may be one. */
function loadFile(): EnvironmentOptions {
  try {
    return loadConfigFile(thisProcess())
  } catch (error) {
    optionsFromEnvironment(process.env, notifyVariable)
    throw error
  }
}

/**
 * Looks again, and reports a program that has loaded an SDK but not registered it for a long time. A program that starts no SDK, such as a
 * child process that inherits `NODE_OPTIONS`, or that ends soon, is not reported.
 */
function lookAgain(isThere: () => boolean, patienceMs: number): void {
  const looking = setInterval(() => {
    if (isThere()) clearInterval(looking)
  }, LOOK_MS).unref()
  setTimeout(() => {
    clearInterval(looking)
    if (isThere() || !hasLoadedSdk()) return
    const cure =
      'start it with sdk.start(), or register its tracer provider with trace.setGlobalTracerProvider(provider)'
    const message = `an OpenTelemetry SDK is loaded, and no tracer provider is registered: ${cure}`
    complain('SPANSCORE_NO_PROVIDER', message)
  }, patienceMs).unref()
}

function guarded(run: () => void): void {
  try {
    run()
  } catch (error) {
    complain('SPANSCORE_CONFIG', error instanceof Error ? error.message : formatValue(error))
  }
}

function complain(code: 'SPANSCORE_CONFIG' | 'SPANSCORE_NODE_VERSION' | 'SPANSCORE_NO_PROVIDER', what: string): void {
  notify(code, `spanscore/register: ${what}${/[.?]$/.test(what) ? '' : '.'} The application runs unscored.`)
}

/** Where every copy of `@opentelemetry/api` 1.x stores its globals. */
const API = Symbol.for('opentelemetry.js.api.1')

/** Whether this process has loaded an OpenTelemetry SDK. A bundled SDK cannot be seen, nor one of version 3 that is loaded as an ES module. */
function hasLoadedSdk(): boolean {
  // Other things are registered as well, such as a context manager or a meter provider.
  if (Reflect.get(globalThis, API) !== undefined) return true
  return Object.keys(createRequire(import.meta.url).cache).some((path) => /[\\/]@opentelemetry[\\/]sdk-/.test(path))
}
