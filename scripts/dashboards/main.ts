/** Writes the dashboards of `collector-config/grafana/dashboards`: `npm run dashboards`. */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import { overview } from './overview.ts'
import { scorer } from './scorer.ts'
import { workers } from './workers.ts'

/** The folder that Grafana's provisioning reads. */
export const dashboardDirectory = resolve(import.meta.dirname, '../../collector-config/grafana/dashboards')

/** The dashboards' files, by name. */
export const dashboardFiles: Readonly<Record<string, () => string>> = {
  'overview.json': () => `${JSON.stringify(overview(), undefined, 2)}\n`,
  'scorer.json': () => `${JSON.stringify(scorer(), undefined, 2)}\n`,
  'workers.json': () => `${JSON.stringify(workers(), undefined, 2)}\n`,
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const [name, text] of Object.entries(dashboardFiles)) writeFileSync(join(dashboardDirectory, name), text())
}
