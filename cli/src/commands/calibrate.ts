import { InvalidArgumentError } from 'commander'
import type { CalibrateOptions } from '../calibrate/calibrate.ts'
import type { DrawOptions } from '../calibrate/draw-runs.ts'
import { collectValues } from '../command.ts'
import type { CliCommand } from '../command.ts'
import { UsageError } from '../usage-error.ts'

const DEFAULT_COUNT = 100

const FILES = 'traces and the events of their scores, as spanscore inspect reads them'

/** `spanscore calibrate`: compares judges with people's labels. */
export const calibrateCommand: CliCommand = {
  name: 'calibrate',
  declare: (command, context) => {
    command
      .enablePositionalOptions()
      .summary('compare judges with labels that people give')
      .description(
        'Compares labels with the scores in trace files: sensitivity and specificity of each judge, and the share of runs ' +
          'that people would pass. Writes spanscore.calibration.json, rules/calibration.yml for Prometheus, and a report. ' +
          'spanscore calibrate draw FILE… --out LABELS draws the runs to label.',
      )
      .usage('[draw] [options] <files...>')
      .argument('<files...>', FILES)
      // This is not a required option, because commander would then require it for `calibrate draw` too.
      .option('--labels <file>', 'the labels, as JSON Lines (required, may be repeated)', collectValues)
      .option('--labeller <name>', 'the labeller of lines that do not name one')
      .option('--out <folder>', 'the folder to write into', '.')
      .option('--canary <file>', 'write the labelled runs for spanscore canary, with their content')
      .addHelpText('after', '\nExit code: 0; 2 for wrong usage, unreadable files, and too few labels.')
      .action(async (files: readonly string[], options: Partial<CalibrateOptions> & { readonly out: string }) => {
        const { labels } = options
        if (labels === undefined) {
          throw new UsageError(
            '--labels: expected a file of labels, got none; spanscore calibrate draw draws runs to label',
            {
              showsHelp: true,
            },
          )
        }
        const { calibrate } = await import('../calibrate/calibrate.ts')
        await calibrate(files, { ...options, labels }, context)
      })
    command
      .command('draw')
      .summary('draw runs for people to label')
      .description(
        'Draws runs that a scorer has scored into a new file for people to label: about half of them passed and half failed, if there ' +
          'are enough of both. The file holds the content of the runs, and not the verdict.',
      )
      .argument('<files...>', FILES)
      .requiredOption('--out <file>', 'the new file of runs to label, as JSON Lines')
      .option('--scorer <id>', 'the scorer (required if the files hold scores of several)')
      .option('--scorer-version <version>', 'its version (default: that of the latest run)')
      .option('--judge <model>', 'the judge model, by the name in its answers (default: that of the latest run)')
      .option('--n <count>', 'how many runs to draw', toCount, DEFAULT_COUNT)
      .option('--seed <number>', 'a whole number: the same files and seed give the same runs', toSeed)
      .option(
        '--labels <file>',
        'leave out runs that were drawn into this file before (may be repeated)',
        collectValues,
      )
      .addHelpText('after', '\nExit code: 0; 2 for wrong usage, unreadable files, and files without scores.')
      .action(async (files: readonly string[], options: DrawOptions) => {
        const { drawRuns } = await import('../calibrate/draw-runs.ts')
        await drawRuns(files, options, context)
      })
  },
}

function toCount(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Expected a whole number, 1 or more.')
}

function toSeed(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Expected a whole number, 0 or more.')
}
