import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Where the syntax of a module that was loaded is wrong: `line 3`, or the path and line of a module that it imports. Node.js
 * says it of CommonJS and TypeScript in the stack, and of other ES modules nowhere.
 */
export function syntaxErrorPlace(path: string, error: SyntaxError): string {
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

/** TypeScript's grammar is that of JavaScript and more: its parser finds the place, and its error says it. */
function lineByTypeScript(path: string): number | undefined {
  const emitWarning = Object.getOwnPropertyDescriptor(process, 'emitWarning')
  // That the function is experimental is no news for the application.
  process.emitWarning = () => undefined
  try {
    // Not imported: an older Node.js, which has no such function, would refuse to load this file.
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
