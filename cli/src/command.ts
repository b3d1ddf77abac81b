import type { Command } from 'commander'
import type { OutputStream } from './output.ts'

/** 0: done; 1: a gate failed; 2: wrong usage, or input that cannot be read. */
export type ExitCode = 0 | 1 | 2

/** What a command needs besides its arguments. */
export interface CommandContext {
  readonly stdin: AsyncIterable<Uint8Array>
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly environment: Readonly<Record<string, string | undefined>>
}

/**
 * One command of `spanscore`. A new command is a file in `commands/` and a line in `all-commands.ts`.
 *
 * Errors that the user can correct are thrown as `UsageError`. They are printed as one line, and the exit code is 2.
 */
export interface CliCommand {
  /** The name, such as `inspect`. */
  readonly name: string
  /**
   * Declares description, arguments, options and action on an empty commander command. The action calls `finish` if the
   * exit code is not 0.
   */
  readonly declare: (command: Command, context: CommandContext, finish: (code: ExitCode) => void) => void
}

/** Parses an option that may be repeated: collects its values in a list. */
export function collectValues(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value]
}
