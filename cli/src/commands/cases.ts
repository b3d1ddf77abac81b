import { InvalidArgumentError, Option } from 'commander'

import type { CasesOptions } from '../cases/cases.ts'
import type { PointsOptions } from '../cases/points.ts'
import type { DatasetFormat } from '../cases/dataset-formats.ts'
import { collectValues } from '../command.ts'
import type { CliCommand } from '../command.ts'

const DEFAULT_TOP = 50

/** `spanscore cases FILE…`: makes test cases of the worst runs in trace files. */
export const casesCommand: CliCommand = {
  name: 'cases',
  declare: (command, context) => {
    command
      .enablePositionalOptions()
      .summary('make test cases of runs that failed')
      .description(
        'Makes cases of the runs in trace files that a scorer, a user or a person who labels failed: one for each question, the worst first, ' +
          'with what was wrong, and an expected answer and trajectory to fill in. spanscore score --cases checks new traces of the same ' +
          'questions, and testCases of spanscore/testing asks the agent again. Cases hold content, without what redact of the ' +
          'configuration removes.',
      )
      .usage('[convert | points] [options] [files...]')
      .argument('[files...]', 'traces and the events of their scores, as spanscore inspect reads them')
      .option('--from <backend>', 'read the stored traces and scores of a backend instead, as spanscore score does')
      .option(
        '--page <url>',
        'read the runs on the page of a service instead, such as http://127.0.0.1:4320; its token is in $SPANSCORE_PAGE_TOKEN',
      )
      .option(
        '--token-file <file>',
        'with --page: the file with its token, page-token in the data folder of the service',
      )
      .option('--since <time>', 'with --from and --page: how far back, as 30m, 24h, 7d or a date', '24h')
      .option('--query <query>', 'with --from: which traces')
      .option('--out <file>', 'add the cases to this file, without questions that it has; without it, print them')
      .option('--labels <file>', "people's labels, as calibrate reads them (may be repeated)", collectValues)
      .option('--disputed', 'only runs on which a person and a scorer differ')
      .option('--scorer <id>', 'only what this scorer failed (may be repeated)', collectValues)
      .option('--top <count>', 'at most this many cases', toCount, DEFAULT_TOP)
      .option(
        '--config <file>',
        'the configuration (default: spanscore.config.{ts,mts,mjs,js} here, or $SPANSCORE_CONFIG, if there is one)',
      )
      .addHelpText('after', '\nExit code: 0; 2 for wrong usage, unreadable files, and files without scores.')
      .action(async (files: readonly string[], options: CasesOptions) => {
        const { collectCases } = await import('../cases/cases.ts')
        await collectCases(files, options, context)
      })
    command
      .command('points')
      .summary('write down what answers must say, by the expected answers')
      .description(
        'Adds "points" to the cases that have an expected answer and none: what an answer must say to be right, which answer_correctness ticks off. ' +
          'It shows what that costs first, and changes nothing else. A person may change the points.',
      )
      .argument('<cases>', 'a file that spanscore cases wrote')
      .option('--model <provider/model>', 'the judge (default: that of answer_correctness in the configuration)')
      .option('--config <file>', 'the configuration (default: as of spanscore score)')
      .action(async (file: string, options: PointsOptions) => {
        const { addPoints } = await import('../cases/points.ts')
        await addPoints(file, options, context)
      })
    command
      .command('convert')
      .summary("print cases in the form of another tool's datasets")
      .description("Prints a file of cases in the form of another tool's datasets, one JSON object a line.")
      .argument('<cases>', 'a file that spanscore cases wrote')
      .addOption(
        new Option('--to <tool>', 'the tool').choices(['promptfoo', 'langfuse', 'deepeval']).makeOptionMandatory(),
      )
      .action(async (file: string, { to }: { readonly to: DatasetFormat }) => {
        const { convertCases } = await import('../cases/cases.ts')
        await convertCases(file, to, context)
      })
  },
}

function toCount(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Expected a whole number, 1 or more.')
}
