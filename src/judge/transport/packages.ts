/**
 * The optional peers that a judge asks with, loaded when it first does. Each `import()` names its package in plain words and
 * is in a `try`, which says to bundlers that a package may be missing: where it is installed it becomes part of
 * the bundle, and where it is not, the bundle is made without it. Outside of a `try` esbuild and webpack refuse to make one.
 */

/** @throws what the runtime or the bundler throws where the package is missing */
export async function loadAi(): Promise<typeof import('ai')> {
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
  try {
    if (packageName === '@ai-sdk/openai') return await import('@ai-sdk/openai')
    return await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ packageName)
    // oxlint-disable-next-line no-useless-catch -- it is there for bundlers to see
  } catch (error) {
    throw error
  }
}
