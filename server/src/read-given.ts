import { readFileSync, statSync } from 'node:fs'

/** More than any file that an option names needs. */
const MAX_BYTES = 1024 * 1024

/**
 * Reads a file that an option names.
 *
 * @param option the option of the command line that gives the path
 * @throws Error with what was expected and what came
 */
export function readGiven(option: string, path: string): string {
  try {
    const file = statSync(path)
    // A device or a pipe may have no end.
    if (!file.isFile()) throw new Error('another kind of file')
    if (file.size > MAX_BYTES) throw new Error(`${file.size} bytes, of which at most ${MAX_BYTES} are read`)
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(
      `${option} ${path}: expected a file that can be read, got ${error instanceof Error ? error.message : 'none'}.`,
      { cause: error },
    )
  }
}

/**
 * Reads a file with one token, or two, while one replaces the other: a line each.
 *
 * @param least how many characters each has at least
 * @throws Error with what was expected and what came, without the token
 */
export function readTokens(option: string, path: string, least: number): readonly string[] {
  const tokens = readGiven(option, path)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const got =
    tokens.length === 0
      ? 'an empty one'
      : tokens.length > 2
        ? `${tokens.length} lines`
        : `one of ${Math.min(...tokens.map(({ length }) => length))} characters`
  if (tokens.length === 0 || tokens.length > 2 || tokens.some(({ length }) => length < least))
    throw new Error(
      `${option} ${path}: expected a token of at least ${least} characters on one line, or on each of two; got ${got}.`,
    )
  return tokens
}
