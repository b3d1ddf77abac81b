/** An error that the user of the command can correct. It is shown as one line, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** Whether the help explains the correct usage. */
  readonly showsHelp: boolean

  constructor(message: string, { showsHelp = false }: { readonly showsHelp?: boolean } = {}) {
    super(message)
    this.showsHelp = showsHelp
  }
}
