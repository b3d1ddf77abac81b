import { once } from 'node:events'

import type { StoredRun } from '../../../src/otlp/runs-by-start.ts'
import type { CliCommand, CommandContext } from '../command.ts'
import { write } from '../output.ts'
import { describeCount, readFiles } from '../read-files.ts'
import { loadFromServer, SERVER_PACKAGE } from '../server-package.ts'
import { safeLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'

/** `spanscore view FILE…`: shows the runs in trace files on the page, which comes with the package of the service. */
export const viewCommand: CliCommand = {
  name: 'view',
  declare: (command, context) => {
    command
      .summary(`show trace files in a browser (with ${SERVER_PACKAGE})`)
      .description(
        'Shows the agent runs in trace files on a page in the browser, with the scores that the files hold: score with spanscore score --out ' +
          'first, and give its file, too. The page can try default scorers on a run, stores nothing, and ends with this command.',
      )
      .argument(
        '<files...>',
        'files with traces, logs and scores, in the formats that spanscore inspect reads; - is standard input',
      )
      .action((files: readonly string[]) => view(files, context))
  },
}

/** `startView` of the service's package. */
type StartView = (given: { readonly runs: AsyncIterable<StoredRun>; readonly files: readonly string[] }) => Promise<{
  readonly url: string
  readonly runs: number
  stop(): Promise<void>
}>

async function view(files: readonly string[], context: CommandContext): Promise<void> {
  const startView = await loadFromServer<StartView>('startView')
  const { runs, summary } = readFiles(files, context)
  const names = files.map((file) => (file === '-' ? 'standard input' : safeLine(file)))
  const page = await startView({ runs, files: names })
  const count = describeCount(page.runs, summary())
  if (page.runs === 0) {
    await page.stop()
    throw new UsageError(count)
  }
  await write(context.stdout, `${count}. The page is at ${page.url}\nCtrl-C ends it.\n`)
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  await page.stop()
}
