import { CLI_ROOMS, ROOMS, SERVER_ROOMS } from '../../test/rooms.ts'
import type { Room } from '../../test/rooms.ts'
import { code, page, table } from './markdown.ts'

/** `docs/reference/folders.md`: what each folder of the source holds, and from which others it imports. */
export function foldersPage(): string {
  return page(
    'Folders',
    'What each folder of the source holds. [ARCHITECTURE.md](../../ARCHITECTURE.md) walks through them. `test/architecture.test.ts` checks that each imports only from the folders beside it that it knows, and that no import is circular.',
    '## The library',
    tableOf('src', ROOMS),
    '## The command line',
    'It is a package of its own, `@spanscore/cli`, and bundles what it imports from `src/`.',
    tableOf('cli/src', CLI_ROOMS),
    '## The service',
    'It is a package of its own, and imports `spanscore/engine` alone. What runs in the browser is in `server/page/`.',
    tableOf('server/src', SERVER_ROOMS),
  )
}

function tableOf(folder: string, rooms: Readonly<Record<string, Room>>): string {
  return table(['folder', 'what it holds', 'knows'], rowsOf(folder, rooms))
}

function rowsOf(folder: string, rooms: Readonly<Record<string, Room>>): string[][] {
  return Object.entries(rooms).flatMap(([name, { holds, knows, inside = {} }]) => [
    [code(`${folder}/${name}/`), holds, knows.join(', ')],
    ...rowsOf(`${folder}/${name}`, inside),
  ])
}
