import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

import { dashboardDirectory, dashboardFiles } from '../../scripts/dashboards/main.ts'

interface Panel {
  readonly type: string
  readonly title?: string
  readonly description?: string
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } }
  readonly targets?: readonly { readonly expr: string }[]
}

const read = (name: string) => readFileSync(join(dashboardDirectory, name), 'utf8')

describe('the dashboards', () => {
  it('equal the output of the code', () => {
    expect(readdirSync(dashboardDirectory)).toEqual(Object.keys(dashboardFiles))
    for (const [name, text] of Object.entries(dashboardFiles))
      expect(read(name), `npm run dashboards: ${name}`).toBe(text())
  })

  it.each(Object.keys(dashboardFiles))('%s: every panel has title, unit, description and a query', (name) => {
    const { panels }: { panels: Panel[] } = JSON.parse(read(name))
    const bare = panels
      .filter((panel) => panel.type !== 'row')
      .filter(
        ({ title, description, fieldConfig, targets }) =>
          !title || !description || !fieldConfig?.defaults.unit || !targets || targets.length === 0,
      )
    expect(bare.map((panel) => panel.title)).toEqual([])
  })

  it.each(Object.keys(dashboardFiles))(
    '%s: reads the metrics of the Prometheus exporter too, without units',
    (name) => {
      const { panels }: { panels: Panel[] } = JSON.parse(read(name))
      const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
      const withUnit = expressions.flatMap((expression) =>
        [...expression.matchAll(/\bspanscore_(\w+)_seconds(_\w+)?\b/g)].map(([, metric, part = '']) => ({
          expression,
          bare: `spanscore_${metric}${part}`,
        })),
      )
      expect(withUnit.filter(({ expression, bare }) => !new RegExp(`\\b${bare}\\b`).test(expression))).toEqual([])
    },
  )
})
