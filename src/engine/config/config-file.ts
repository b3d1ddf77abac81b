import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, extname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

import { formatValue } from '../../scoring/format-value.ts'
import { disown, isThenable } from '../../scoring/thenable.ts'
import { isRecord } from '../../spans/json.ts'
import { wrong } from './option-checks.ts'

/** In search order. */
const NAMES = ['spanscore.config.ts', 'spanscore.config.mts', 'spanscore.config.mjs', 'spanscore.config.js'] as const

/** Where to look for the file, and how this version of Node.js loads it. */
export interface ConfigFileHost {
  readonly cwd: string
  /** `SPANSCORE_CONFIG`: a path, absolute or relative to `cwd`. Blank counts as unset. */
  readonly path: string | undefined
  /** Loads a module synchronously, so that the application's first line does not wait. */
  readonly load: (path: string) => unknown
  /** Whether this version of Node.js runs TypeScript: 22.18 or later, or an earlier one with a flag. */
  readonly runsTypeScript: boolean
  /** Such as `v22.15.0`. */
  readonly nodeVersion: string
}

/** The current process. */
export function thisProcess(): ConfigFileHost {
  return {
    cwd: process.cwd(),
    path: process.env['SPANSCORE_CONFIG'],
    load: (path) => createRequire(path)(path),
    runsTypeScript: Boolean(process.features.typescript),
    nodeVersion: process.version,
  }
}

/**
 * Reads the options that `spanscore.config.{ts,mts,mjs,js}` exports.
 *
 * @throws Error if there is no file, Node.js cannot load it, or it does not export options. The message says what was expected, what came,
 * and what to do.
 */
export function loadConfigFile(host: ConfigFileHost): Readonly<Record<string, unknown>> {
  const path = findConfigFile(host)
  if (/^\.(?:ya?ml|json)$/.test(extname(path))) {
    throw new Error(
      `${path}: expected a module, got a configuration of the service. Check it with spanscore-server --check --config ${path} and its other options.`,
    )
  }
  if (/^\.[cm]?ts$/.test(extname(path)) && !host.runsTypeScript) {
    throw new Error(
      `${path}: expected Node 22.18 or later, which runs TypeScript, got ${host.nodeVersion}; ` +
        'write it as spanscore.config.mjs, or start node with --experimental-strip-types.',
    )
  }
  const options = exported(load(host, path))
  const expected = 'export default defineConfig({ scorers: […] })'
  if (isThenable(options)) {
    disown(options)
    throw wrong(path, `${expected}, which cannot be async`, 'a promise')
  }
  if (isModule(options) && !('scorers' in options)) throw wrong(path, expected, 'no default export')
  if (!isRecord(options)) throw wrong(path, expected, options)
  return options
}

/** The path of the configuration file in a folder; `undefined` if there is none. */
export function configFileIn(cwd: string): string | undefined {
  return NAMES.map((name) => resolve(cwd, name)).find((candidate) => existsSync(candidate))
}

function findConfigFile({ cwd, path }: ConfigFileHost): string {
  const given = path?.trim() ?? ''
  if (given !== '') {
    const named = resolve(cwd, given)
    if (existsSync(named)) return named
    throw new Error(`SPANSCORE_CONFIG: expected the path of a configuration file, got ${named}, which does not exist.`)
  }
  const found = configFileIn(cwd)
  if (found !== undefined) return found
  throw new Error(
    `Expected one of ${NAMES.join(', ')} in ${cwd}, got none of them; write one that exports ` +
      'defineConfig({ scorers: […] }), or give its path in SPANSCORE_CONFIG, or to a command with --config.',
  )
}

function load({ load: loadModule }: ConfigFileHost, path: string): unknown {
  try {
    return loadModule(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_REQUIRE_ASYNC_MODULE') {
      throw new Error(
        `${path}: expected a module without top-level await, which cannot be loaded before the application starts; ` +
          'got one with it, in the file itself or in what it imports.',
        { cause: error },
      )
    }
    if (error instanceof SyntaxError && isReadAsCommonJs(path, error)) {
      const name = basename(path).replace(/[jt]s$/, 'm$&')
      throw new Error(
        `${path}: expected a CommonJS module, because the package.json above it has "type": "commonjs", got an import or export ` +
          `statement; rename it to ${name}, or set "type": "module".`,
        { cause: error },
      )
    }
    const place = error instanceof SyntaxError ? ` (${syntaxErrorPlace(path, error)})` : ''
    throw new Error(`${path}: expected a module that loads, got ${formatValue(error, 500)}${place}`, { cause: error })
  }
}

/** Whether Node.js read an ES module as CommonJS. It decides by the nearest package.json if the name ends in `.ts` or `.js`. */
function isReadAsCommonJs(path: string, error: SyntaxError): boolean {
  const isStatement = /^(?:Cannot use import statement outside a module|Unexpected token 'export')$/.test(error.message)
  return isStatement && /\.[jt]s$/.test(path) && placeInStack(error)?.path === path
}

/** An ES module without a default export. */
function isModule(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Module]'
}

/** The default export of an ES or CommonJS module. A CommonJS module may also export the options directly. */
function exported(module: unknown): unknown {
  if (!isRecord(module) || !('default' in module)) return module
  const value = module['default']
  // TypeScript's CommonJS output, imported as an ES module, has default.default.
  return isRecord(value) && 'default' in value && !('scorers' in value) ? value['default'] : value
}

/**
 * The place of a syntax error: `line 3`, or the path and line in an imported module. Node.js reports it in the stack for CommonJS and
 * TypeScript, and not at all for other ES modules.
 */
function syntaxErrorPlace(path: string, error: SyntaxError): string {
  const stack = placeInStack(error)
  if (stack !== undefined) return stack.path === path ? `line ${stack.line}` : `${stack.path}, line ${stack.line}`
  const line = lineByTypeScript(path)
  return line === undefined ? 'in a module that it imports' : `line ${line}`
}

function placeInStack({ stack = '' }: SyntaxError): { readonly path: string; readonly line: number } | undefined {
  const [, place = '', line = ''] = /^(\S.*):(\d+)\r?\n/.exec(stack) ?? []
  if (place === '' || /^\w*Error\b/.test(place)) return undefined
  return { path: place.startsWith('file:') ? fileURLToPath(place) : place, line: Number(line) }
}

/** TypeScript is a superset of JavaScript, so its parser finds the line, and its error names it. */
function lineByTypeScript(path: string): number | undefined {
  const emitWarning = Object.getOwnPropertyDescriptor(process, 'emitWarning')
  // Suppresses the warning that the function is experimental.
  process.emitWarning = () => undefined
  try {
    // Not imported, because an older Node.js without this function would fail to load this file.
    process.getBuiltinModule('node:module').stripTypeScriptTypes(readFileSync(path, 'utf8'))
    return undefined
  } catch (error) {
    const stack = error instanceof SyntaxError ? error.stack : undefined
    const line = /^:(\d+)\r?\n/.exec(stack ?? '')?.[1]
    return line === undefined ? undefined : Number(line)
  } finally {
    if (emitWarning !== undefined) Object.defineProperty(process, 'emitWarning', emitWarning)
  }
}
