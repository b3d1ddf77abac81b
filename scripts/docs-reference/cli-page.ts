import { PassThrough } from 'node:stream'

import { Command } from 'commander'

import { allCommands } from '../../src/cli/all-commands.ts'
import type { CommandContext } from '../../src/cli/command.ts'
import { code, page } from './markdown.ts'

/** `docs/reference/cli.md`: the help of every command. */
export function cliPage(): string {
  return page(
    'Command line',
    '`npx spanscore <command>`. Exit code 0 means success, 1 that something is not as it should be (a gate, a check), and 2 wrong usage or input that cannot be read. This is the help of each command.',
    ...allCommands.flatMap(({ name }) => [`## ${code(`spanscore ${name}`)}`, `\`\`\`text\n${helpOf(name)}\n\`\`\``]),
  )
}

function helpOf(name: string): string {
  const program = new Command('spanscore')
  const command = program.command(name).helpOption('-h, --help', 'print this help')
  allCommands.find((each) => each.name === name)?.declare(command, silent, () => {})
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
