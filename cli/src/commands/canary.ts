import type { CanaryOptions } from '../canary/canary.ts'
import { collectValues } from '../command.ts'
import type { CliCommand } from '../command.ts'

/** `spanscore canary FILE…`: checks whether judges still agree with people on labelled runs. */
export const canaryCommand: CliCommand = {
  name: 'canary',
  declare: (command, context, finish) => {
    command
      .summary('judge labelled runs again, and find out whether a judge has drifted')
      .description(
        'Lets the judges of a configuration file judge labelled runs again, counts on how many they agree with people, sends the ' +
          'counts as metrics (OTEL_EXPORTER_OTLP_ENDPOINT), and reports whether they agree less than when the reference was measured. ' +
          'Every labelled run is one score of a judge.',
      )
      .argument('<files...>', 'labelled runs, as spanscore calibrate --canary FILE writes them: they hold content')
      .option(
        '--config <file>',
        'the configuration (default: spanscore.config.{ts,mts,mjs,js} here, or $SPANSCORE_CONFIG)',
      )
      .option('--calibration <file>', 'the file that spanscore calibrate wrote', 'spanscore.calibration.json')
      .option('--reference', 'add this pass to the reference that later passes are compared with, and update the rules')
      .option(
        '--fail-under <id=share>',
        'exit with 1 if a judge agrees with people on less than this share (may be repeated)',
        collectValues,
      )
      .option('--json', 'print the result as JSON')
      .option('--out <file>', 'write the metrics as an OTLP request (JSON)')
      .addHelpText(
        'after',
        '\nExit code: 0; 1 if a judge has drifted (13 nats of evidence for less agreement), is uncalibrated, gave no\n' +
          'verdict on some runs, or a gate failed; 2 for wrong usage, unreadable files, and metrics that could not be sent.',
      )
      .action(async (files: readonly string[], options: CanaryOptions) => {
        const { canary } = await import('../canary/canary.ts')
        finish(await canary(files, options, context))
      })
  },
}
