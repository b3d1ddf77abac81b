import { readFileSync } from 'node:fs'

/**
 * Reads a file that an option names.
 *
 * @param option the option of the command line that gives the path
 * @throws Error with what was expected and what came
 */
export function readGiven(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(
      `${option} ${path}: expected a file that can be read, got ${error instanceof Error ? error.message : 'none'}.`,
      { cause: error },
    )
  }
}
