import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { parse, stringify } from 'yaml'

import { dashboardFiles } from '../../../scripts/dashboards/main.ts'
import { findProgram } from '../../../scripts/e2e-tools.ts'
import { freePorts } from './kafka-cluster.ts'

const CONFIG = join(import.meta.dirname, '../../../collector-config')

/** A Prometheus that receives metrics by OTLP, configured like the shipped one. */
export interface Prometheus extends AsyncDisposable {
  /** Where OTLP metrics are posted to. */
  readonly metricsUrl: string
  /** Values of an instant query, by the value of one label. */
  query(expression: string, label: string): Promise<ReadonlyMap<string, number>>
}

export async function startPrometheus(): Promise<Prometheus> {
  const program = findProgram('prometheus')
  if (program === undefined) {
    throw new Error('Expected Prometheus on the PATH or in the cache: `node scripts/e2e-tools.ts` gets it.')
  }
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-prometheus-'))
  const [port] = await freePorts(1)
  const { global, otlp, storage }: Record<string, unknown> = parse(readFileSync(join(CONFIG, 'prometheus.yml'), 'utf8'))
  writeFileSync(join(folder, 'prometheus.yml'), stringify({ global, otlp, storage }))
  const child = spawn(
    program,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--web.enable-otlp-receiver',
      '--enable-feature=created-timestamp-zero-ingestion,otlp-deltatocumulative,exemplar-storage',
    ],
    { stdio: 'ignore' },
  )
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = `http://127.0.0.1:${port}`
  for (let attempt = 0; ; attempt++) {
    const isReady = await fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) break
    if (attempt > 300 || child.exitCode !== null) throw new Error(`Prometheus did not start on port ${port}.`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return {
    metricsUrl: `${url}/api/v1/otlp/v1/metrics`,
    query: async (expression, label) => {
      const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`)
      if (!response.ok) throw new Error(`Prometheus answered ${response.status}: ${await response.text()}`)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the documented answer of an instant query
      const { data } = (await response.json()) as {
        data: { result: { metric: Record<string, string>; value: [number, string] }[] }
      }
      return new Map(data.result.map(({ metric, value }) => [metric[label] ?? '', Number(value[1])]))
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Finds the expressions of the dashboard of workers that return no data in spite of the metrics that were received. */
export async function emptyPanels(prometheus: Prometheus): Promise<readonly string[]> {
  const { panels }: { panels: { targets?: { expr: string }[] }[] } = JSON.parse(
    dashboardFiles['workers.json']?.() ?? '',
  )
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr.replace('$job', '.*')))
  if (expressions.length < 5) throw new Error(`Expected expressions of the dashboard, got ${expressions.length}.`)
  const empty: string[] = []
  for (const expression of expressions) {
    // The processes of earlier tests have ended.
    const overTime = expression.replace(/(spanscore_\w+\{[^}]*\})(?!\[)/g, 'last_over_time($1[1h])')
    if ((await prometheus.query(overTime.replaceAll('[5m]', '[1h]'), 'instance')).size === 0) empty.push(expression)
  }
  return empty
}
