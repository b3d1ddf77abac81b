import { InvalidArgumentError } from 'commander'
import { collectValues } from '../command.ts'
import type { CliCommand } from '../command.ts'
import type { ScoreOptions } from '../score/score-options.ts'

const DEFAULT_JUDGE_LIMIT = 100

/** `spanscore score FILE…`: the configured scorers on stored traces. */
export const scoreCommand: CliCommand = {
  name: 'score',
  declare: (command, context, finish) => {
    command
      .summary('run the configured scorers on trace files')
      .description(
        'Runs the scorers of a configuration file on the agent runs in trace files, and shows, by agent and scorer, how ' +
          'many runs were scored, their mean with its 95 % interval, the share that passed, and the worst runs with reasons. ' +
          'Every run is scored: sample and budget of the configuration are for live traffic.',
      )
      .argument('<files...>', 'traces, and logs beside them, as spanscore inspect reads them; - is standard input')
      .option('--config <file>', 'the configuration (default: spanscore.config.{ts,mjs,js} here, or $SPANSCORE_CONFIG)')
      .option('--json', 'print each evaluation and the summary as JSON, which --baseline reads')
      .option('--out <file>', 'write the scores as OTLP log records (JSON lines)')
      .option('--junit <file>', 'write a JUnit report')
      .option('--where <key=value>', 'only runs with agent=NAME or trace=ID (may be repeated)', collectValues)
      .option(
        '--judge-limit <count>',
        'ask judges for this many scores at most, of the first runs by start time',
        toCount,
        DEFAULT_JUDGE_LIMIT,
      )
      .option(
        '--fail-under <id=number>',
        'exit with 1 where the mean of a scorer is under this (may be repeated)',
        collectValues,
      )
      .option(
        '--fail-over <id=number>',
        'the same for scorers of which lower is better (may be repeated)',
        collectValues,
      )
      .option('--lower', 'compare gates with the worse end of the 95 % interval, and not with the mean')
      .option('--baseline <file>', 'compare with what --json wrote before: pairs by run id, else by agent and input')
      .addHelpText(
        'after',
        '\nExit code: 0; 1 where a gate failed (also where nothing was scored, scores failed,\n' +
          'or judges were left out); 2 for wrong usage and unreadable files.',
      )
      .action(async (files: readonly string[], options: ScoreOptions) => {
        // Loaded here: `inspect` needs neither scorers nor options.
        const { score } = await import('../score/score.ts')
        finish(await score(files, options, context))
      })
  },
}

function toCount(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Expected a whole number, 0 or more.')
}
