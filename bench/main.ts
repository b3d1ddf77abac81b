/**
 * What spanscore costs, in five lines: `npm run bench`. With `-- --all` every figure of the project, each a ratio to a baseline taken in the
 * same run; then `--check` fails where a threshold is not met, `--rounds 20` gives steadier medians, `--only host` one group, and
 * `--only files --megabytes 1000` larger files.
 */
import { parseArgs } from 'node:util'

import { agentCosts } from './agent.ts'
import { fileCosts } from './files.ts'
import { hostCosts } from './host.ts'
import { importCosts } from './imports.ts'
import { benchReconstruction } from './reconstruction.ts'
import { isMet, toTable } from './row.ts'
import type { Row } from './row.ts'
import { scorerCosts } from './scorers.ts'
import { shortFigures } from './short.ts'

const { values } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '15' },
    only: { type: 'string', default: '' },
    megabytes: { type: 'string', default: '180' },
  },
})
const groups: Readonly<Record<string, (rounds: number) => Promise<Row[]>>> = {
  agent: agentCosts,
  host: hostCosts,
  reconstruction: benchReconstruction,
  scorers: scorerCosts,
  imports: importCosts,
  files: (rounds) => fileCosts(rounds, Number(values.megabytes)),
}
const machine = `Node ${process.version}, ${process.platform}-${process.arch}`
if (values.all || values.check || values.only !== '') await measureAll()
else {
  console.log(`${machine}, processor time, medians:`)
  for await (const line of shortFigures()) console.log(line)
}

async function measureAll(): Promise<void> {
  const rows: Row[] = []
  for (const [name, measure] of Object.entries(groups)) {
    if (name.includes(values.only)) rows.push(...(await measure(Number(values.rounds))))
  }
  console.log(`${machine}; medians of ${values.rounds} rounds, baseline and spanscore in turn.\n`)
  console.log(toTable(rows))
  if (values.check && !rows.every(isMet)) process.exitCode = 1
}
