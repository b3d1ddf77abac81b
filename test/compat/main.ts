/**
 * The same scenarios over SDK lines, Node versions, AI SDK versions, CommonJS and ESM, and preload orders, against the packed
 * project: `npm run test:compat` in eight cells, `-- --all` in all eighteen, `-- --only '2.12'` in those whose name has it.
 */
import { parseArgs } from 'node:util'

import { ALL_CELLS, nameOf, PAIRWISE_CELLS } from './cells.ts'
import type { Cell } from './cells.ts'
import { complaints } from './complaints.ts'
import { installApplication, installNode, pack } from './install.ts'
import { runScenario } from './run-scenario.ts'
import { BASELINE, SCENARIOS } from './scenarios.ts'

const { values } = parseArgs({ options: { all: { type: 'boolean', default: false }, only: { type: 'string' } } })
const cells = (values.all ? ALL_CELLS : PAIRWISE_CELLS).filter((cell) => nameOf(cell).includes(values.only ?? ''))
const tarball = pack()

let passed = 0
let failed = 0
for (const cell of cells) {
  const started = performance.now()
  const found = await runCell(cell)
  console.log(`${nameOf(cell)}: ${found} scenarios, ${((performance.now() - started) / 1000).toFixed(1)} s`)
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0

async function runCell(cell: Cell): Promise<number> {
  const node = installNode(cell.node)
  const folder = installApplication(cell, tarball)
  const baseline = await runScenario(cell, BASELINE, folder, node)
  const scenarios = [BASELINE, ...SCENARIOS.filter(({ sdks }) => sdks?.includes(cell.sdk) ?? true)]
  for (const scenario of scenarios) {
    const outcome = scenario === BASELINE ? baseline : await runScenario(cell, scenario, folder, node)
    const wrong = complaints(cell, scenario, outcome, baseline)
    if (wrong.length === 0) {
      passed += 1
      continue
    }
    failed += 1
    console.error(`${nameOf(cell)}: ${scenario.name}`)
    for (const complaint of wrong) console.error(`  ✗ ${complaint}`)
  }
  return scenarios.length
}
