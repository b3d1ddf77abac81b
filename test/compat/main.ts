/**
 * The same scenarios over SDK lines, Node versions, AI SDK versions, CommonJS and ESM, and preload orders, against the packed
 * project: `npm run test:compat` in eight cells, `-- --all` in all eighteen. Then the distributions that teams run, in their newest
 * versions. `-- --only '2.12'` or `-- --only Sentry` are those whose name has it.
 */
import { parseArgs } from 'node:util'

import { ALL_CELLS, nameOf, PAIRWISE_CELLS } from './cells.ts'
import type { Cell } from './cells.ts'
import { complaints } from './complaints.ts'
import { DISTRIBUTIONS } from './distributions.ts'
import type { Distribution } from './distributions.ts'
import { installAgents, installApplication, installDistribution, installNode, pack } from './install.ts'
import { complaintsOf as wrongOf, triesOf, tryDistribution } from './run-distribution.ts'
import type { Tried } from './run-distribution.ts'
import { runScenario } from './run-scenario.ts'
import { BASELINE, SCENARIOS } from './scenarios.ts'

const { values } = parseArgs({ options: { all: { type: 'boolean', default: false }, only: { type: 'string' } } })
const cells = (values.all ? ALL_CELLS : PAIRWISE_CELLS).filter((cell) => nameOf(cell).includes(values.only ?? ''))
const tarball = pack()

const distributions = DISTRIBUTIONS.filter(({ name }) => name.includes(values.only ?? ''))

let passed = 0
let failed = 0
for (const cell of cells) {
  const started = performance.now()
  const found = await runCell(cell)
  console.log(`${nameOf(cell)}: ${found} scenarios, ${((performance.now() - started) / 1000).toFixed(1)} s`)
}
for (const distribution of distributions) {
  const started = performance.now()
  const done = await runDistribution(distribution)
  console.log(`${distribution.name}: ${done}, ${((performance.now() - started) / 1000).toFixed(1)} s`)
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0

/** Tries a distribution in its newest versions; a vendor's newest may break it, also without spanscore. */
async function runDistribution(distribution: Distribution): Promise<string> {
  const { isBroken, name } = distribution
  let installed
  try {
    installed = installDistribution(distribution, tarball)
  } catch (error) {
    count(name, isBroken ? [] : [`it does not install: ${String(error).slice(0, 1500)}`])
    return 'does not install'
  }
  if (isBroken) count(name, ['it installs now, and was expected not to'])
  const where = { folder: installed.folder, agentsFolder: installAgents(), node: process.execPath }
  let off: Tried | undefined
  for (const each of triesOf(distribution)) {
    const tried = await tryDistribution(distribution, each, where)
    if (each.how === 'off') off = tried
    const of = `${name} (${installed.versions}): ${each.how}, ${each.modules}, ${each.agent}`
    count(of, wrongOf(distribution, each, tried, off))
  }
  return installed.versions
}

function count(what: string, wrong: readonly string[]): void {
  if (wrong.length === 0) {
    passed += 1
    return
  }
  failed += 1
  console.error(what)
  for (const complaint of wrong) console.error(`  ✗ ${complaint}`)
}

async function runCell(cell: Cell): Promise<number> {
  const node = installNode(cell.node)
  const folder = installApplication(cell, tarball)
  const baseline = await runScenario(cell, BASELINE, folder, node)
  const scenarios = [BASELINE, ...SCENARIOS.filter(({ sdks }) => sdks?.includes(cell.sdk) ?? true)]
  for (const scenario of scenarios) {
    const outcome = scenario === BASELINE ? baseline : await runScenario(cell, scenario, folder, node)
    count(`${nameOf(cell)}: ${scenario.name}`, complaints(cell, scenario, outcome, baseline))
  }
  return scenarios.length
}
