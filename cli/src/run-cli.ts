import { Command, CommanderError } from 'commander'
import { allCommands } from './all-commands.ts'
import type { CommandContext, ExitCode } from './command.ts'
import { readVersion } from './read-version.ts'
import { safeLine } from './text.ts'
import { UsageError } from './usage-error.ts'

/** Runs a command line. Never rejects: an error is printed as one line on stderr, and the exit code is 2. */
export async function runCli(argv: readonly string[], context: CommandContext): Promise<ExitCode> {
  let code: ExitCode = 0
  const program = createProgram(context, (given) => {
    code = given
  })
  try {
    if (argv.length === 0) throw new UsageError(`expected a command: ${commandNames()}`, { showsHelp: true })
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    // Commander also throws after it prints the help or the version.
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    const command = allCommands.find(({ name }) => name === argv[0])
    const help = command === undefined ? 'spanscore --help' : `spanscore ${command.name} --help`
    context.stderr.write(`spanscore: ${describe(error, help)}\n`)
    return 2
  }
}

function createProgram(context: CommandContext, finish: (code: ExitCode) => void): Command {
  const program = new Command('spanscore')
    .description('Scores and shows the runs of LLM agents in trace files.')
    .version(readVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .usage('<command> [options]')
    .helpCommand(false)
    // An option belongs to the command before it, because `calibrate` and `calibrate draw` share option names.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      // Errors are printed once, by `runCli`.
      outputError: () => {},
      getOutHelpWidth: () => Math.min(100, context.stdout.columns ?? 80),
      getOutHasColors: () => false,
    })
  for (const { name, declare } of allCommands) declare(program.command(name), context, finish)
  return program
}

function commandNames(): string {
  return allCommands.map(({ name }) => name).join(', ')
}

/** One line about an error, with a reference to the help if the command line is wrong. */
function describe(error: unknown, help: string): string {
  const message = safeLine(error instanceof Error ? error.message : String(error)).replace(/^error: /, '')
  if (
    error instanceof CommanderError &&
    error.code === 'commander.unknownCommand' &&
    !message.includes('Did you mean')
  ) {
    return `${message}, expected one of ${commandNames()}; see ${help}`
  }
  const showsHelp = error instanceof CommanderError || (error instanceof UsageError && error.showsHelp)
  return showsHelp ? `${message}; see ${help}` : message
}
