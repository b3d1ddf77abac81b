import { createRequire } from 'node:module'

import { disablingVariable } from '../../emit/disabling-variable.ts'
import { refuseNode } from '../../model/node-version.ts'
import { formatValue } from '../../scoring/format-value.ts'
import { attachScoring } from './attach.ts'
import { configFileIn, loadConfigFile, thisProcess } from '../../engine/config/config-file.ts'
import { isOn, optionsFromEnvironment, withEnvironment } from '../../engine/config/environment.ts'
import type { EnvironmentOptions } from '../../engine/config/environment.ts'
import { resolveOptions } from '../../engine/config/options.ts'
import { notify, notifyVariable } from '../../engine/notices/notify.ts'
import { watchModelRequests } from '../model-requests.ts'
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
    let stopLooking = ignore
    const found = (provider: object): void => {
      isFound = true
      stopLooking()
      guarded(() => attachTo(provider))
    }
    onTracerProvider(found)
    if (!isFound) stopLooking = lookAgain(found, patienceMs)
  })
}

function attachTo(provider: object): void {
  const refusal = refuseNode()
  if (refusal !== undefined) {
    complain('SPANSCORE_NODE_VERSION', refusal)
    return
  }
  attachScoring(readOptions({ tracerProvider: provider }))
}

/** The options of the configuration file and the environment, which override these. */
function readOptions(own: object): ScoringOptions {
  // The processor reports invalid variables, however it is attached.
  const environment = optionsFromEnvironment(process.env, () => {})
  const options: unknown = { ...own, ...withEnvironment(loadFile(), environment) }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- whoever uses it checks every property of it
  return options as ScoringOptions
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
 * Looks again, and reports a program that has loaded an SDK or calls models, and has not registered a provider for a long time. A program that
 * does neither, such as a child process that inherits `NODE_OPTIONS`, is not reported.
 *
 * @param found is called with the provider
 * @returns a function that stops looking
 */
function lookAgain(found: (provider: object) => void, patienceMs: number): () => void {
  let isOver = false
  const look = (): void => {
    const provider = isOver ? undefined : globalTracerProvider()
    if (provider !== undefined) found(provider)
  }
  const report = (what: string): void => {
    look()
    if (isOver) return
    stop()
    const variable = disablingVariable('traces', process.env)
    const cure =
      variable === undefined
        ? 'start the SDK with sdk.start(), or register its tracer provider with trace.setGlobalTracerProvider(provider)'
        : `${variable} leaves none`
    complain('SPANSCORE_NO_PROVIDER', `${what}, and no tracer provider is registered: ${cure}`)
    const { cwd, path } = thisProcess()
    // One without a configuration file needs no second line.
    if (path !== undefined || configFileIn(cwd) !== undefined) guarded(() => resolveOptions(readOptions({}), true))
  }
  const looking = setInterval(look, LOOK_MS).unref()
  setTimeout(() => {
    clearInterval(looking)
    if (hasLoadedSdk()) report('an OpenTelemetry SDK is loaded')
  }, patienceMs).unref()
  let reportCall = ignore
  const stopWatching = watchModelRequests(({ host }) => {
    stopWatching()
    reportCall = () => report(`a model was called (${host})`)
    setTimeout(reportCall, patienceMs).unref()
    process.once('beforeExit', reportCall)
  })
  const stop = (): void => {
    isOver = true
    clearInterval(looking)
    stopWatching()
    process.off('beforeExit', reportCall)
  }
  return stop
}

function ignore(): void {}

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
