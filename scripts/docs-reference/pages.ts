import { apiPage } from './api-page.ts'
import { attributesPage } from './attributes-page.ts'
import { cliPage } from './cli-page.ts'
import { environmentPage } from './environment-page.ts'
import { eventsPage } from './events-page.ts'
import { foldersPage } from './folders-page.ts'
import { licencesPage } from './licences-page.ts'
import { metricsPage } from './metrics-page.ts'
import { noticesPage } from './notices-page.ts'
import { optionsPage } from './options-page.ts'
import { reasonsPage } from './reasons-page.ts'
import { recordedPage } from './recorded-page.ts'
import { scorersPage } from './scorers-page.ts'
import { serverPage } from './server-page.ts'

/** The pages of `docs/reference` that are made from the code, by their file names. */
export function referencePages(): ReadonlyMap<string, string> {
  return new Map([
    ['options.md', optionsPage()],
    ['scorers.md', scorersPage()],
    ['environment.md', environmentPage()],
    ['notices.md', noticesPage()],
    ['reasons.md', reasonsPage()],
    ['recorded.md', recordedPage()],
    ['licences.md', licencesPage()],
    ['attributes.md', attributesPage()],
    ['events.md', eventsPage()],
    ['metrics.md', metricsPage()],
    ['cli.md', cliPage()],
    ['server.md', serverPage()],
    ['folders.md', foldersPage()],
    ['api.md', apiPage()],
  ])
}
