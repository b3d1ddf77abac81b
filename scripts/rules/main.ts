/** Writes the rules of `collector-config/rules` from `collector-config/rules-table.yaml`: `npm run rules`. */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { stringify } from 'yaml'

import { alertGroups } from './alerts.ts'
import { recordingGroups } from './recording.ts'
import type { RuleGroup } from './recording.ts'
import { readTable } from './table.ts'
import type { Table } from './table.ts'

/** The folder that Prometheus reads. */
export const rulesDirectory = resolve(import.meta.dirname, '../../collector-config/rules')

const HEADER = '# This file is generated from rules-table.yaml by `npm run rules`. Edit the table instead.\n'

const write = (about: string, groups: RuleGroup[]) =>
  `${HEADER}# ${about}\n${stringify({ groups }, { lineWidth: 0, aliasDuplicateObjects: false })}`

/** The rules' files, by name. */
export function rulesFiles(table: Table = readTable()): Readonly<Record<string, string>> {
  return {
    'alerts.yml': write(
      'A page needs attention now, a ticket this week. ../runbooks.md explains what to do about each alert.',
      alertGroups(table),
    ),
    'recording.yml': write(
      'Sums, means, levels, evidence; ../../docs/numbers.md explains them.',
      recordingGroups(table),
    ),
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const [name, text] of Object.entries(rulesFiles())) writeFileSync(join(rulesDirectory, name), text)
}
