import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const directory = resolve(import.meta.dirname, '../../collector-config')
const read = (name: string) => readFileSync(join(directory, name), 'utf8')

interface Service {
  readonly image?: string
  readonly build?: { readonly context: string; readonly dockerfile: string; readonly target?: string }
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
}
const compose: { services: Record<string, Service>; volumes: Record<string, null> } = parse(read('docker-compose.yml'))
const services = Object.entries(compose.services)
const mounts = services.flatMap(([service, { volumes = [] }]) =>
  volumes.map((volume) => {
    const [from = '', to = ''] = volume.split(':')
    return { service, from, to }
  }),
)

describe('docker-compose.yml', () => {
  it('mounts only existing files and named volumes', () => {
    const missing = mounts.filter(({ from }) =>
      from.startsWith('.') ? !existsSync(join(directory, from)) : !(from in compose.volumes),
    )
    expect(missing).toEqual([])
  })

  it('publishes every port on loopback only', () => {
    const open = services.flatMap(([, { ports = [] }]) => ports).filter((port) => !port.startsWith('127.0.0.1:'))
    expect(open).toEqual([])
  })

  it('takes every version from the environment, with a default', () => {
    const fixed = services
      // A service that is built from this repository has no version to choose.
      .flatMap(([, { image }]) => image ?? [])
      .filter((image) => !/:\$\{[A-Z_]+_VERSION:-[^}]+\}$/.test(image))
    expect(fixed).toEqual([])
  })

  it('starts the demo in a stage of the image that holds the whole build', () => {
    const { demo } = compose.services
    const dockerfile = readFileSync(join(directory, demo?.build?.context ?? '', demo?.build?.dockerfile ?? ''), 'utf8')
    const stage = dockerfile.split(/^(?=FROM )/m).find((part) => part.includes(` AS ${demo?.build?.target}\n`))
    expect(stage).toMatch(/^COPY \. \.$[^]*npm ci/m)
  })

  it('names services in the configurations by the names that they have', () => {
    const texts = ['otel-collector.yaml', 'prometheus.yml', 'grafana/provisioning/datasources/spanscore.yaml'].map(read)
    const hosts = texts.flatMap((text) =>
      [...text.matchAll(/\b([a-z][a-z-]+):(?:4317|8888|909\d|16686)\b/g)].map((match) => match[1]),
    )
    expect(hosts.length).toBeGreaterThan(4)
    // The links in the messages of alerts are for a browser, which reaches the published ports.
    const known = [...Object.keys(compose.services), 'localhost']
    expect(hosts.filter((host) => host !== undefined && !known.includes(host))).toEqual([])
  })

  it('gives the Collector, Prometheus, Alertmanager and Grafana the files that their arguments and providers name', () => {
    const places = mounts.map(({ to }) => to)
    const named = [
      '/etc/otelcol/otel-collector.yaml',
      '/etc/jaeger/jaeger.yaml',
      '/etc/jaeger/ui.json',
      '/etc/prometheus/prometheus.yml',
      '/etc/prometheus/rules',
      '/etc/alertmanager/alertmanager.yml',
      '/etc/grafana/provisioning',
      '/etc/grafana/dashboards',
    ]
    expect(named.filter((place) => !places.includes(place))).toEqual([])
    expect(read('grafana/provisioning/dashboards/spanscore.yaml')).toContain('path: /etc/grafana/dashboards')
  })
})

describe('the alerts', () => {
  interface Alert {
    readonly alert: string
    readonly annotations: Readonly<Record<string, string>>
  }
  const { groups }: { groups: { rules: Alert[] }[] } = parse(read('rules/spanscore.yml'))
  const alerts = groups.flatMap((group) => group.rules).filter(({ alert }) => alert)
  const headings = read('runbooks.md')
    .split('\n')
    .filter((line) => line.startsWith('## '))
    .map((line) => line.slice(3))

  it('have one section of the runbooks each, and every section belongs to an alert', () => {
    const calibration = read('../cli/src/calibration/rules.ts').matchAll(/alert\('(Spanscore\w+)'/g)
    const names = [...alerts.map(({ alert }) => alert), ...[...calibration].map(([, name]) => name)]
    expect(headings.toSorted()).toEqual([...new Set(names)].toSorted())
    for (const { alert, annotations } of alerts)
      expect(annotations['runbook_url']).toContain(`#${alert.toLowerCase()}{{ end }}`)
  })

  it('have somebody who acts', () => {
    const sections = read('runbooks.md').split(/^## /m).slice(1)
    expect(sections.filter((text) => !text.includes('**Who acts: ')).map((text) => text.split('\n')[0])).toEqual([])
  })

  it('are all tested by name', () => {
    const tests = read('../test/e2e/faults.promtool.yml') + read('../test/e2e/rules.test.ts')
    expect(alerts.map(({ alert }) => alert).filter((alert) => !new RegExp(`["']${alert}["']`).test(tests))).toEqual([])
  })
})
