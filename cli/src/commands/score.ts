import { InvalidArgumentError } from 'commander'
import { collectValues } from '../command.ts'
import type { CliCommand } from '../command.ts'
import type { ScoreOptions } from '../score/score-options.ts'

const DEFAULT_JUDGE_LIMIT = 100
const DEFAULT_TOP = 3

/** `spanscore score FILE…`: runs the configured scorers on stored traces. */
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
      .argument(
        '[files...]',
        'files with traces and logs, in the formats that spanscore inspect reads; - is standard input',
      )
      .option(
        '--from <backend>',
        'score the stored traces of jaeger://host:port or tempo://host:port (+https for TLS), instead of files',
      )
      .option('--from-ca <file>', 'certificate authority of that backend, PEM')
      .option('--from-cert <file>', 'certificate of this client for that backend, PEM')
      .option('--from-key <file>', 'its key, PEM')
      .option('--since <time>', 'with --from: how far back, as 30m, 24h, 7d or a date', '24h')
      .option(
        '--query <query>',
        "with --from: which traces, as TraceQL, or as parameters of Jaeger's API such as service_name=support",
      )
      .option('--resume <file>', 'with --from: note in this file how far it is, and continue there')
      .option(
        '--to <url>',
        'send the scores to this OTLP/HTTP endpoint, as late spans and events, but none that the traces have already',
      )
      .option('--to-ca <file>', 'certificate authority of that endpoint, PEM')
      .option('--to-cert <file>', 'certificate of this client for that endpoint, PEM')
      .option('--to-key <file>', 'its key, PEM')
      .option(
        '--config <file>',
        'the configuration (default: spanscore.config.{ts,mts,mjs,js} here, or $SPANSCORE_CONFIG)',
      )
      .option('--json', 'print each evaluation and the summary as JSON, which --baseline reads')
      .option('--out <file>', 'write the scores as OTLP log records (JSON lines)')
      .option('--junit <file>', 'write a JUnit report')
      .option(
        '--junit-failures',
        'with --junit: an agent and scorer with a failing run is a failed case, too; with --baseline, with more new failures than --allow',
      )
      .option('--markdown <file>', 'write a summary for a pull request')
      .option('--top <count>', 'how many of the worst runs to show for each agent and scorer', toCount, DEFAULT_TOP)
      .option('--failed-only', 'show only agents and scorers with a failing run')
      .option('--where <key=value>', 'only runs with agent=NAME or trace=ID (may be repeated)', collectValues)
      .option(
        '--judge-limit <count>',
        'ask judges for at most this many scores, of the first runs by start time',
        toCount,
        DEFAULT_JUDGE_LIMIT,
      )
      .option(
        '--fail-under <id=number>',
        'exit with 1 if the mean of a scorer is under this (may be repeated)',
        collectValues,
      )
      .option('--fail-over <id=number>', 'the same for scorers where lower is better (may be repeated)', collectValues)
      .option('--lower', 'compare the worse end of the 95 % interval with the gates, not the mean')
      .option(
        '--baseline <file>',
        'compare with a file that --json wrote; runs are paired by id, else by agent and input',
      )
      .option(
        '--fail-on <what>',
        'exit with 1 on new-failures or a drop since the baseline, =ID for one scorer, or on unchecked-cases (may be repeated)',
        collectValues,
      )
      .option('--allow <count>', 'with --fail-on new-failures: so many questions of a scorer may newly fail', toCount)
      .option(
        '--cases <file>',
        'score only runs with the questions of these cases, and exit with 1 if one fails or is not asked',
      )
      .addHelpText(
        'after',
        '\nExit code: 0; 1 if a gate failed (also if nothing was scored, scores failed,\n' +
          'or judges were left out); 2 for wrong usage, unreadable files, and a --where or an agent in the configuration\n' +
          'that matches no run.',
      )
      .action(async (files: readonly string[], options: ScoreOptions) => {
        // Loaded lazily, because `inspect` needs neither scorers nor options.
        const { score } = await import('../score/score.ts')
        finish(await score(files, options, context))
      })
  },
}

function toCount(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Expected a whole number, 0 or more')
}
