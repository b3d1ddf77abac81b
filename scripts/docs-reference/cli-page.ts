import { PassThrough } from 'node:stream'

import { Command } from 'commander'

import { allCommands } from '../../cli/src/all-commands.ts'
import type { CommandContext } from '../../cli/src/command.ts'
import { code, page } from './markdown.ts'

/** `docs/reference/cli.md`: the help of every command. */
export function cliPage(): string {
  return page(
    'Command line',
    '`npx @spanscore/cli <command>`. Exit code 0 means success, 1 that something is not as it should be (a gate, a check), and 2 wrong usage or input that cannot be read. This is the help of each command.',
    ...allCommands.flatMap(({ name, declare }) => {
      const command = new Command('spanscore')
        .enablePositionalOptions()
        .command(name)
        .helpOption('-h, --help', 'print this help')
      declare(command, silent, () => {})
      return [command, ...command.commands].flatMap(section)
    }),
  )
}

function section(command: Command): string[] {
  const parents = command.parent?.name() === 'spanscore' ? 'spanscore' : `spanscore ${command.parent?.name()}`
  return [`## ${code(`${parents} ${command.name()}`)}`, `\`\`\`text\n${helpOf(command)}\n\`\`\``]
}

function helpOf(command: Command): string {
  let help = ''
  command.configureOutput({
    writeOut: (text) => (help += text),
    getOutHelpWidth: () => 100,
    getOutHasColors: () => false,
  })
  command.outputHelp()
  return help.trim()
}

const silent: CommandContext = {
  stdin: new PassThrough(),
  stdout: process.stdout,
  stderr: process.stderr,
  environment: {},
}
