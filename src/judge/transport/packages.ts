import { inNextTurn } from '../../scoring/host-timers.ts'

/**
 * The optional peers that a judge asks with, loaded when it first does. Each `import()` names its package in plain words and
 * is in a `try`, which says to bundlers that a package may be missing: where it is installed it becomes part of
 * the bundle, and where it is not, the bundle is made without it. Outside of a `try` esbuild and webpack refuse to make one.
 */

/** @throws what the runtime or the bundler throws where the package is missing */
export async function loadAi(): Promise<typeof import('ai')> {
  await loadParts()
  try {
    return await import('ai')
    // oxlint-disable-next-line no-useless-catch -- it is there for bundlers to see
  } catch (error) {
    throw error
  }
}

/**
 * The module of a provider's package. Of those that have the name of a model only, bundlers can see `@ai-sdk/openai`; any
 * other is looked for when it is needed, from where the bundle is.
 *
 * @throws what the runtime or the bundler throws where the package is missing
 */
export async function loadProvider(packageName: string): Promise<unknown> {
  await loadParts()
  try {
    if (packageName === '@ai-sdk/openai') return await import('@ai-sdk/openai')
    return await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ packageName)
    // oxlint-disable-next-line no-useless-catch -- it is there for bundlers to see
  } catch (error) {
    throw error
  }
}

/** What the AI SDK is made of, in the order in which its modules need one another. */
const PARTS = ['zod/v4', '@ai-sdk/provider-utils', '@ai-sdk/gateway']

let parts: Promise<void> | undefined

/**
 * Loads the parts of the AI SDK one by one, each in a turn of the event loop of its own: loaded with `ai`, all of them are evaluated in one
 * turn, which takes twice as long as the longest of them. A part of which `ai` has another copy is left to it.
 */
function loadParts(): Promise<void> {
  parts ??= loadEach(PARTS.filter(isSharedWithAi))
  return parts
}

async function loadEach(names: readonly string[]): Promise<void> {
  for (const name of names) {
    try {
      await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name)
    } catch {
      // Whatever is wrong with it, loading `ai` says so.
    }
    await new Promise<void>(inNextTurn)
  }
}

function isSharedWithAi(name: string): boolean {
  try {
    // Not imported: bundlers that find `createRequire` in a module try to follow it.
    const { createRequire } = process.getBuiltinModule('node:module')
    const manifest = `${/^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0]}/package.json`
    const own = createRequire(import.meta.url)
    return own.resolve(manifest) === createRequire(own.resolve('ai/package.json')).resolve(manifest)
  } catch {
    return false
  }
}
