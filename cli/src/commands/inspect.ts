import { InvalidArgumentError } from 'commander'
import type { AgentRun } from '../../../src/model/agent-run.ts'
import type { StoredRun } from '../../../src/otlp/runs-by-start.ts'
import { collectValues } from '../command.ts'
import type { CliCommand, CommandContext } from '../command.ts'
import { ConversationList, renderConversations } from '../conversation-list.ts'
import { createPaint, write } from '../output.ts'
import type { OutputStream } from '../output.ts'
import { InspectedRuns } from '../inspected-runs.ts'
import { describeCount, readFiles } from '../read-files.ts'
import { RunFilter } from '../run-filter.ts'
import { renderRun } from '../run-tree.ts'
import { hanging, safeJson } from '../text.ts'

interface InspectOptions {
  readonly json?: boolean
  readonly failedOnly?: boolean
  readonly limit?: number
  readonly agent?: readonly string[]
  readonly trace?: readonly string[]
}

/** How many runs are shown to a person who asks for no number. */
const DEFAULT_LIMIT = 50

const NARROWEST = 40
const WIDEST = 120

/** `spanscore inspect FILE…`: shows the agent runs in trace files, and the scores that are already on them. */
export const inspectCommand: CliCommand = {
  name: 'inspect',
  declare: (command, context) => {
    command
      .summary('show the agent runs in trace files')
      .description(
        'Shows the agent runs in trace files: what each was given, its steps and tool calls, its answer, the scores that ' +
          'are already on its spans, and what its spans do not hold. Runs with the same id of a conversation are listed as its turns.',
      )
      .argument(
        '<files...>',
        'files with traces and logs: OTLP (JSON, JSON lines, protobuf), Jaeger or Tempo; plain, gzip or zstd; - is standard input',
      )
      .option(
        '--json',
        'print { "runs": [ … ] } for programs, by start time, each with the scores that it has already, and "conversations" if runs have one id',
      )
      .option(
        '--failed-only',
        'only runs that ended with an error, or that a scorer or a user failed, also by a nested run',
      )
      .option('--limit <count>', `at most this many runs (default: ${DEFAULT_LIMIT}, with --json all)`, toCount)
      .option('--agent <name>', 'only runs of this agent, or with a nested run of it (may be repeated)', collectValues)
      .option(
        '--trace <id>',
        'only runs in this trace; the beginning of the id is enough (may be repeated)',
        collectValues,
      )
      .addHelpText(
        'after',
        '\nExit code: 0, also where damaged records were left out (each is named on stderr);\n' +
          '2 for wrong usage, unreadable files, files without spans, and runs that match no filter.',
      )
      .action((files: readonly string[], options: InspectOptions) => inspect(files, options, context))
  },
}

async function inspect(files: readonly string[], options: InspectOptions, context: CommandContext): Promise<void> {
  const filter = new RunFilter({ agents: options.agent ?? [], traces: options.trace ?? [] })
  const { json = false, failedOnly = false, limit = json ? Number.POSITIVE_INFINITY : DEFAULT_LIMIT } = options
  const { runs, summary } = readFiles(files, context)
  const conversations = new ConversationList()
  const found = new InspectedRuns()
  const chosen = found.chosen(matching(runs, filter), { failedOnly, limit }, conversations)
  await (json ? writeJson(chosen, conversations, context.stdout) : writeTrees(chosen, conversations, context))
  const result = `${describeCount(found.count, summary())}${found.describe()}`
  if (!json) await write(context.stdout, `${hanging('', result, context.stdout.columns)}\n`)
  else if (found.count === 0) context.stderr.write(`spanscore: ${result}\n`)
}

async function* matching(runs: AsyncIterable<StoredRun>, filter: RunFilter): AsyncGenerator<StoredRun> {
  for await (const stored of runs) if (filter.matchesWithin(stored.run)) yield stored
  filter.check()
}

function toCount(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Expected a whole number, 1 or more.')
}

async function writeJson(
  runs: AsyncIterable<StoredRun>,
  conversations: ConversationList,
  stdout: OutputStream,
): Promise<void> {
  let count = 0
  for await (const { run, scoresOf } of runs) {
    const json = JSON.stringify(withScores(run, scoresOf))
    await write(stdout, `${count === 0 ? '{ "runs": [\n' : ',\n'}${safeJson(json)}`)
    count++
  }
  const { all } = conversations
  const end = all.length === 0 ? '' : `, "conversations": ${safeJson(JSON.stringify(all))}`
  await write(stdout, `${count === 0 ? '{ "runs": []' : '\n]'}${end} }\n`)
}

/** The run's own fields and its existing scores. */
function withScores(run: AgentRun, scoresOf: StoredRun['scoresOf']): unknown {
  const hasScores = (one: AgentRun): boolean => scoresOf(one).length > 0 || one.children.some(hasScores)
  if (!hasScores(run)) return run
  const plain: Record<string, unknown> = JSON.parse(JSON.stringify(run))
  const scores = scoresOf(run)
  return {
    ...plain,
    children: run.children.map((child) => withScores(child, scoresOf)),
    ...(scores.length > 0 && { scores }),
  }
}

async function writeTrees(
  runs: AsyncIterable<StoredRun>,
  conversations: ConversationList,
  { stdout, environment }: CommandContext,
): Promise<void> {
  const columns = Math.min(WIDEST, Math.max(NARROWEST, stdout.columns ?? 80))
  const style = { columns, paint: createPaint(stdout, environment) }
  for await (const { run, scoresOf } of runs) await write(stdout, `${renderRun(run, { ...style, scoresOf })}\n`)
  const { all } = conversations
  if (all.length > 0) await write(stdout, `${renderConversations(all, columns)}\n\n`)
}
