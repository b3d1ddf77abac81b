import { UsageError } from './usage-error.ts'

/**
 * Loads a command that validates files with zod, an optional peer dependency that judges need too.
 *
 * @throws UsageError if zod is not installed.
 */
export async function withZod<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    if (error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes("'zod'")) {
      throw new UsageError('this command reads labels with zod, which is not installed: npm install zod')
    }
    if (error.code === 'ERR_PACKAGE_PATH_NOT_EXPORTED' && /[\\/]zod[\\/]package\.json/.test(error.message)) {
      throw new UsageError('this command reads labels with zod 3.25 or later, and an older one is installed')
    }
    throw error
  }
}
