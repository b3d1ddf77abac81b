import type { CliCommand } from './command.ts'
import { inspectCommand } from './commands/inspect.ts'

/** The commands of `spanscore`, in the order in which the help lists them. */
export const allCommands: readonly CliCommand[] = [inspectCommand]
