/** Something that whoever called the command can mend; shown as one line, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** True where the help says how. */
  readonly showsHelp: boolean

  constructor(message: string, { showsHelp = false }: { readonly showsHelp?: boolean } = {}) {
    super(message)
    this.showsHelp = showsHelp
  }
}
