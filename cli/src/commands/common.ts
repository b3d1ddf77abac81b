import { collectValues } from '../command.ts'
import type { CliCommand } from '../command.ts'
import type { CommonOptions } from '../common/common.ts'

/** `spanscore common FILE… --scorer ID`: what the failing runs of a scorer have in common. */
export const commonCommand: CliCommand = {
  name: 'common',
  declare: (command, context) => {
    command
      .summary('say what failing runs have in common')
      .description(
        'Compares the runs that fail a scorer with those that pass it, and names what the failing ones have in common and the ' +
          'others lack: a version, a prompt, a model, a tool that fails, an attribute, a word of the question. Scores are those in the ' +
          'files: on spans, or as records of spanscore score --out and of the service.',
      )
      .argument(
        '[files...]',
        'files with traces and scores, in the formats that spanscore inspect reads; - is standard input',
      )
      .requiredOption('--scorer <id>', 'the scorer')
      .option(
        '--since <time>',
        'when the failures began, as 30m, 24h, 7d ago or a date: runs from before are compared with',
      )
      .option('--baseline <file>', 'a file with traces and scores from before, instead of --since')
      .option(
        '--where <key=value>',
        'only runs with agent=NAME, or with a trait such as app.plan=free (may be repeated)',
        collectValues,
      )
      .option(
        '--from <backend>',
        'read the stored traces of jaeger://host:port or tempo://host:port (+https for TLS) instead of files: twice as far back as --since, or 24 hours',
      )
      .option(
        '--query <query>',
        "with --from: which traces, as TraceQL, or as parameters of Jaeger's API such as service_name=support",
      )
      .option('--json', 'print the result for programs')
      .option('--markdown', 'print the result for a pull request or a message')
      .addHelpText(
        'after',
        '\nExit code: 0; 2 for wrong usage, unreadable files, files without scores of the scorer, and fewer than five failing runs.',
      )
      .action(async (files: readonly string[], options: CommonOptions) => {
        const { common } = await import('../common/common.ts')
        await common(files, options, context)
      })
  },
}
