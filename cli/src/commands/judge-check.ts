import { collectValues } from '../command.ts'
import type { CliCommand } from '../command.ts'
import type { JudgeCheckOptions } from '../judge-check/judge-check.ts'

/** `spanscore judge-check --model ID`: asks a judge about labelled cases, and reports how often it is right. */
export const judgeCheckCommand: CliCommand = {
  name: 'judge-check',
  declare: (command, context, finish) => {
    command
      .summary('ask a judge about labelled cases, and see how often it is right and what it costs')
      .description(
        'Asks a model about labelled cases that ship with spanscore, seven or more for each prebuilt judge scorer, in five languages, ' +
          'some of them with orders to the judge. Reports how many it judges rightly, which not, and what 1,000 runs cost. ' +
          'It shows what it may cost before it asks.',
      )
      .option('--model <provider/model>', 'the judge, such as openai/gpt-5-mini')
      .option('--config <file>', 'check the judges of a configuration instead (default: as of spanscore score)')
      .option('--url <url>', 'the base URL of an OpenAI-compatible API, such as http://127.0.0.1:11434/v1')
      .option('--scorer <id>', 'check only this judge scorer (may be repeated)', collectValues)
      .option('--max-usd <dollars>', 'ask no further case once this is spent, at list prices', '2')
      .option('--timeout <seconds>', 'how long one score may take', '120')
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        '\nExit code: 0 if the judge is right in at least nine of ten cases, and of those of each scorer with ten or more, 1 if it is not, 2 for wrong usage, a missing key or package.',
      )
      .action(async (options: JudgeCheckOptions) => {
        const { judgeCheck } = await import('../judge-check/judge-check.ts')
        finish(await judgeCheck(options, context))
      })
  },
}
