/**
 * The project's figures, each a ratio to a baseline taken in the same run: `npm run bench`, `-- --check` to fail where a threshold is
 * not met, `-- --rounds 20` for steadier medians, `-- --only host` for one group, `-- --only files --megabytes 1000` for larger files.
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

const { values } = parseArgs({
  options: {
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
const rows: Row[] = []
for (const [name, measure] of Object.entries(groups)) {
  if (name.includes(values.only)) rows.push(...(await measure(Number(values.rounds))))
}
console.log(
  `Node ${process.version}, ${process.platform}-${process.arch}; medians of ${values.rounds} rounds, baseline and spanscore in turn.\n`,
)
console.log(toTable(rows))
if (values.check && !rows.every(isMet)) process.exitCode = 1
