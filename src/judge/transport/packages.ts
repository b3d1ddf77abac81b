/**
 * Loads the optional peers of a judge. Each `import()` has a literal name and is inside a `try`, so bundlers know that the
 * package may be missing: an installed package becomes part of the bundle, a missing one is left out. Outside of a `try`, esbuild and
 * webpack fail instead.
 */

/** @throws anything that the runtime or the bundler throws if the package is missing */
export async function loadProviderUtils(): Promise<typeof import('@ai-sdk/provider-utils')> {
  try {
    return await import('@ai-sdk/provider-utils')
    // oxlint-disable-next-line no-useless-catch -- bundlers look for the try block
  } catch (error) {
    throw error
  }
}

/**
 * Loads a provider's package. Bundlers can only see `@ai-sdk/openai`; any other is resolved at run time, relative to the bundle.
 *
 * @throws anything that the runtime or the bundler throws if the package is missing
 */
export async function loadProvider(packageName: string): Promise<unknown> {
  await loadParts(packageName)
  try {
    if (packageName === '@ai-sdk/openai') return await import('@ai-sdk/openai')
    return await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ packageName)
    // oxlint-disable-next-line no-useless-catch -- bundlers look for the try block
  } catch (error) {
    throw error
  }
}

/** What every provider's package depends on, in the order of dependencies. */
const PARTS = ['zod/v4/core', 'zod/v4', '@ai-sdk/provider-utils']

let parts: Promise<void> | undefined

/**
 * Loads parts of the first provider's package one at a time, each in its own turn of the event loop. Loading the package directly evaluates all of
 * them in one turn, which takes twice as long as the longest part. If the package has another copy of a part, it loads that one.
 */
function loadParts(packageName: string): Promise<void> {
  parts ??= loadEach(PARTS.filter((name) => isSharedWith(packageName, name)))
  return parts
}

async function loadEach(names: readonly string[]): Promise<void> {
  for (const name of names) {
    try {
      await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name)
    } catch {
      // Loading the package reports the error.
    }
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

function isSharedWith(packageName: string, name: string): boolean {
  try {
    // Not imported, because bundlers try to follow `createRequire`.
    const { createRequire } = process.getBuiltinModule('node:module')
    const manifest = `${/^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0]}/package.json`
    const own = createRequire(import.meta.url)
    return own.resolve(manifest) === createRequire(own.resolve(`${packageName}/package.json`)).resolve(manifest)
  } catch {
    return false
  }
}
