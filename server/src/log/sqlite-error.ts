/** An error of SQLite. Its code says more than its message (https://www.sqlite.org/rescode.html). */
export type SqliteError = Error & { readonly errcode: number }

export function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
}

/** An error that names its database and its cause. Other errors stay as they are. */
export function describedError(path: string, error: unknown): unknown {
  if (!isSqliteError(error)) return error
  return new Error(
    `${path}: expected a database that can be read and written, got an error of SQLite: ${error.message} (code ${error.errcode}). Free the disk, or change the rights of the folder.`,
    { cause: error },
  )
}
