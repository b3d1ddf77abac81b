import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { inspect } from './inspect.ts'
import type { CommandContext } from './inspect.ts'
import { write } from './output.ts'
import { safeLine } from './text.ts'
import { UsageError } from './usage-error.ts'

const HELP = `Usage: spanscore inspect FILE… [--json]

Shows the agent runs in OTLP files: what each was given, its steps and tool
calls, its answer, and what its spans do not hold.

  FILE       OTLP traces, and logs beside them: JSON, JSON lines as the
             Collector's file exporter writes them, or protobuf (one request,
             or the Collector's records). - reads standard input.

Options:
  --json     print { "runs": [ … ] } for programs, by start time
  --help     show this
  --version  show the version

Exit code: 0, also where damaged records were left out (each is named on
stderr); 2 for wrong usage, unreadable files, and files without spans.
`

/** Runs a command line; gives the exit code. */
export async function runCli(argv: readonly string[], context: CommandContext): Promise<0 | 2> {
  try {
    const { values, positionals } = parse(argv)
    if (values.help) await write(context.stdout, HELP)
    else if (values.version) await write(context.stdout, `${readVersion()}\n`)
    else await dispatch(positionals, values.json, context)
    return 0
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const hint = error instanceof UsageError && error.showsHelp ? '; see spanscore --help' : ''
    context.stderr.write(`spanscore: ${safeLine(message)}${hint}\n`)
    return 2
  }
}

interface Parsed {
  readonly values: { readonly json: boolean; readonly help: boolean; readonly version: boolean }
  readonly positionals: readonly string[]
}

function parse(argv: readonly string[]): Parsed {
  const flag = { type: 'boolean', default: false } as const
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { json: flag, help: { ...flag, short: 'h' }, version: flag },
    })
  } catch (error) {
    // Of Node's advice only the first sentence is about what was written.
    const message = error instanceof Error ? error.message : String(error)
    throw new UsageError(message.split('. ', 1)[0] ?? message, { showsHelp: true })
  }
}

async function dispatch(positionals: readonly string[], asJson: boolean, context: CommandContext): Promise<void> {
  const [command, ...files] = positionals
  if (command === 'inspect') return inspect(files, asJson, context)
  const message = command === undefined ? 'expected a command: inspect' : `expected the command inspect, got ${command}`
  throw new UsageError(message, { showsHelp: true })
}

function readVersion(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return manifest.version
}
