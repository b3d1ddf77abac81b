/** Checks the files that run workers on Kafka as far as that is possible without a container engine and a cluster. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'

const root = resolve(import.meta.dirname, '../..')
const read = (name: string) => readFileSync(join(root, name), 'utf8')

/** The options of the program, as its source declares them. */
const options = new Set(
  [...read('server/src/command-line.ts').matchAll(/(?:option|Option)\(\s*'(--[a-z-]+)/g)].map(([, name]) => name),
)
/** Partitions of the topics of spans in docs/scale.md. Any workers beyond that number have nothing to read. */
const partitions = Number(/--topic spanscore\.\$topic --partitions (\d+)/.exec(read('docs/scale.md'))?.[1])

const labels = z.record(z.string(), z.string())
const probe = z.strictObject({
  httpGet: z.strictObject({ path: z.enum(['/health', '/ready']), port: z.literal('http') }),
  periodSeconds: z.int(),
  failureThreshold: z.int().optional(),
})

const deployment = z.strictObject({
  apiVersion: z.literal('apps/v1'),
  kind: z.literal('Deployment'),
  metadata: z.strictObject({ name: z.string(), labels }),
  spec: z.strictObject({
    replicas: z.int().min(2),
    strategy: z.strictObject({ rollingUpdate: z.strictObject({ maxSurge: z.int(), maxUnavailable: z.int() }) }),
    selector: z.strictObject({ matchLabels: labels }),
    template: z.strictObject({
      metadata: z.strictObject({ labels }),
      spec: z.strictObject({
        terminationGracePeriodSeconds: z.int(),
        containers: z.tuple([
          z.strictObject({
            name: z.string(),
            image: z.string(),
            args: z.array(z.string()),
            ports: z.array(z.strictObject({ name: z.literal('http'), containerPort: z.int() })),
            livenessProbe: probe,
            readinessProbe: probe,
            resources: z.strictObject({ requests: labels, limits: labels }),
          }),
        ]),
      }),
    }),
  }),
})

const budget = z.strictObject({
  apiVersion: z.literal('policy/v1'),
  kind: z.literal('PodDisruptionBudget'),
  metadata: z.strictObject({ name: z.string() }),
  spec: z.strictObject({ maxUnavailable: z.literal(1), selector: z.strictObject({ matchLabels: labels }) }),
})

const scaledObject = z.strictObject({
  apiVersion: z.literal('keda.sh/v1alpha1'),
  kind: z.literal('ScaledObject'),
  metadata: z.strictObject({ name: z.string() }),
  spec: z.strictObject({
    scaleTargetRef: z.strictObject({ name: z.string() }),
    minReplicaCount: z.int(),
    maxReplicaCount: z.int(),
    cooldownPeriod: z.int(),
    triggers: z.array(
      z.discriminatedUnion('type', [
        z.strictObject({
          type: z.literal('prometheus'),
          metadata: z.strictObject({
            serverAddress: z.url(),
            query: z.string(),
            threshold: z.string().regex(/^\d+$/),
          }),
        }),
        z.strictObject({
          type: z.literal('cpu'),
          metricType: z.literal('Utilization'),
          metadata: z.strictObject({ value: z.string().regex(/^\d+$/) }),
        }),
      ]),
    ),
  }),
})

function selectorsOf(
  all: readonly { spec: { selector: { matchLabels: Record<string, string> } } }[],
): readonly string[] {
  return all.map(({ spec }) => JSON.stringify(spec.selector.matchLabels)).toSorted()
}

const base: { services: Record<string, object> } = parse(read('collector-config/docker-compose.yml'))

describe('the manifests for Kubernetes', () => {
  const documents = parseAllDocuments(read('collector-config/kafka/kubernetes.yaml')).map((each): unknown =>
    each.toJS(),
  )
  const ofKind = (kind: string) =>
    documents.filter((each) => typeof each === 'object' && each !== null && 'kind' in each && each.kind === kind)
  const deployments = ofKind('Deployment').map((each) => deployment.parse(each))
  const budgets = ofKind('PodDisruptionBudget').map((each) => budget.parse(each))
  const scaled = ofKind('ScaledObject').map((each) => scaledObject.parse(each))

  it('give each Deployment its own disruption budget, and contain nothing else', () => {
    for (const { spec } of deployments) expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels)
    expect(selectorsOf(budgets)).toEqual(selectorsOf(deployments))
    expect(deployments.length + budgets.length + scaled.length).toBe(documents.length)
  })

  it('start workers with existing options, and probe the port that they listen on', () => {
    for (const { spec } of deployments) {
      const [{ args, ports, livenessProbe, readinessProbe }] = spec.template.spec.containers
      const given = new Map(args.map((arg) => arg.split('=') as [string, string]))
      expect([...given.keys()].filter((name) => !options.has(name))).toEqual([])
      expect(given.get('--role')).toBe('worker')
      expect(given.get('--http-port')).toBe(String(ports[0]?.containerPort))
      expect(livenessProbe.httpGet.path).toBe('/health')
      expect(readinessProbe.httpGet.path).toBe('/ready')
    }
  })

  it('scale workers up to the number of partitions', () => {
    const [{ spec } = { spec: undefined }, ...others] = scaled
    expect(others).toEqual([])
    expect(spec?.scaleTargetRef.name).toBe('spanscore-worker')
    expect(spec?.maxReplicaCount).toBe(partitions)
  })

  it('replace pods without adding one, which would get no partition and never be ready if all of them are taken', () => {
    for (const { spec } of deployments) expect(spec.strategy.rollingUpdate).toEqual({ maxSurge: 0, maxUnavailable: 1 })
  })

  it('scale workers by a metric that workers have, at an address of the shipped stack, and by the processor that they request', () => {
    const target = deployments.find(({ metadata }) => metadata.name === 'spanscore-worker')
    const { spec } = scaled.find(({ metadata }) => metadata.name === 'spanscore-worker') ?? {}
    expect(spec?.triggers.map(({ type }) => type)).toEqual(['prometheus', 'cpu'])
    for (const trigger of spec?.triggers ?? []) {
      if (trigger.type !== 'prometheus') continue
      const [, metric = ''] = /^sum\((\w+)\)$/.exec(trigger.metadata.query) ?? []
      expect(read('docs/reference/server.md')).toContain(
        `| \`${metric.replace('spanscore_worker_', 'spanscore.worker.')}\` |`,
      )
      expect(base.services).toHaveProperty(new URL(trigger.metadata.serverAddress).hostname)
    }
    expect(target?.spec.template.spec.containers[0].resources.requests).toHaveProperty('cpu')
  })
})

describe('the services for Docker Compose', () => {
  interface Service {
    readonly command?: readonly string[]
    readonly container_name?: string
    readonly ports?: readonly string[]
    readonly depends_on?: Readonly<Record<string, unknown>>
    readonly environment?: Readonly<Record<string, string>>
    readonly volumes?: readonly string[]
  }
  const { services }: { services: Record<string, Service> } = parse(read('collector-config/kafka/docker-compose.yml'))

  const workers = Object.values(services).filter(({ command = [] }) => command.includes('--role'))

  it('start workers with existing options', () => {
    expect(workers.length).toBeGreaterThan(0)
    const names = workers.flatMap(({ command = [] }) => command.filter((part) => part.startsWith('--')))
    expect(names.filter((name) => !options.has(name))).toEqual([])
  })

  it('let workers answer at the port at which the image checks their health', () => {
    const image = read('server/Dockerfile')
    const [, port] = /HEALTHCHECK.*127\.0\.0\.1:(\d+)\/health/.exec(image) ?? []
    expect(/ENTRYPOINT.*"--health-port", "(\d+)"/.exec(image)?.[1]).toBe(port)
    for (const { command = [] } of workers) expect(command).not.toContain('--health-port')
  })

  it('can be scaled: workers have no name and no port of their own', () => {
    for (const worker of workers) {
      expect(worker).not.toHaveProperty('container_name')
      expect(worker).not.toHaveProperty('ports')
    }
  })

  it('keep the messages of Kafka on a volume', () => {
    const { environment = {}, volumes = [] } = services['kafka'] ?? {}
    expect(volumes).toContain(`kafka-data:${environment['KAFKA_LOG_DIRS']}`)
  })

  it('depend on existing services, and publish ports on loopback only', () => {
    const needed = Object.values(services).flatMap(({ depends_on = {} }) => Object.keys(depends_on))
    expect(needed.filter((name) => !(name in services) && !(name in base.services))).toEqual([])
    const open = Object.values(services).flatMap(({ ports = [] }) => ports)
    expect(open.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([])
  })
})
