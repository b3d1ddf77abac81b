import { readdirSync } from 'node:fs'

import { LIBRARIES } from '../../test/live/libraries.ts'
import { code, page, table } from './markdown.ts'

const RECORDINGS = 'test/corpus/recordings'
const SUFFIX = '.json.br'

/** `docs/reference/recorded.md`: the libraries, with their versions, whose runs the tests compare with what their programs did. */
export function recordedPage(): string {
  const recordings = readdirSync(RECORDINGS)
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => file.slice(0, -SUFFIX.length))
    .toSorted((a, b) => a.localeCompare(b, 'en'))
  return page(
    'Tested libraries',
    'What spanscore reads from each library is in [Libraries](libraries.md). The tests compare it with what the program really did.',
    '## Recorded',
    `Spans of the real library in this version are part of the tests (\`${RECORDINGS}\`).`,
    recordings.map((name) => `- ${code(name)}`).join('\n'),
    '## Run live',
    '`npm run test:live` installs these libraries, attaches spanscore, and plays the scenarios: one tool, parallel tools, a failing tool, a nested agent, streaming, two requests at the same time.',
    table(
      ['application', 'packages'],
      LIBRARIES.map(({ name, packages }) => [name, versionsOf(packages)]),
    ),
  )
}

/** The packages that characterise the application, without those of OpenTelemetry and of every application. */
function versionsOf(packages: Readonly<Record<string, string>>): string {
  return Object.entries(packages)
    .filter(([name]) => !name.startsWith('@opentelemetry/') && name !== 'zod')
    .map(([name, version]) => `${code(name)} ${version}`)
    .join(', ')
}
