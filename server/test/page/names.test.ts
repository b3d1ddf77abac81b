import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { OverviewReader } from '../../src/page/overview.ts'
import { openPageDatabase } from '../../src/page/store/page-database.ts'
import { storeScoredRun } from './made-score.ts'

it('the choice has the agents that run often, however many names somebody makes up', () => {
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-names-'))
  const database = openPageDatabase(folder)
  const store = (index: number, agent: string) => storeScoredRun(database, index, { value: 1 }, { agent, model: agent })
  for (let index = 0; index < 600; index++) store(index, `!${index}`)
  for (let index = 600; index < 603; index++) store(index, 'weather')
  const { agents, models } = new OverviewReader(database, () => 0).read()
  expect(agents).toContain('weather')
  expect(models).toContain('weather')
  expect(agents.length).toBeLessThanOrEqual(700)
  database.close()
  rmSync(folder, { recursive: true, force: true })
})
