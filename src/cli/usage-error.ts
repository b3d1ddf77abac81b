/** An error that the user of the command can correct. It is shown as one line, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** True where the help explains what is right. */
  readonly showsHelp: boolean

  constructor(message: string, { showsHelp = false }: { readonly showsHelp?: boolean } = {}) {
    super(message)
    this.showsHelp = showsHelp
  }
}
