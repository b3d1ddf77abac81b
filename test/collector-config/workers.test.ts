/** The files that run workers on Kafka: no container engine and no cluster runs them here, so that what can be looked at is. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'

const root = resolve(import.meta.dirname, '../..')
const read = (name: string) => readFileSync(join(root, name), 'utf8')

/** The options of the program, as its source declares them. */
const options = new Set(
  [...read('server/src/main.ts').matchAll(/(?:option|Option)\(\s*'(--[a-z-]+)/g)].map(([, name]) => name),
)
/** Partitions of the topics in docs/scale.md: workers beyond have nothing to read. */
const partitions = Number(/--partitions (\d+)/.exec(read('docs/scale.md'))?.[1])

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
    triggers: z.tuple([
      z.strictObject({
        type: z.literal('kafka'),
        metadata: z.strictObject({
          bootstrapServers: z.string(),
          consumerGroup: z.string(),
          topic: z.string(),
          lagThreshold: z.string().regex(/^\d+$/),
          offsetResetPolicy: z.literal('earliest'),
        }),
      }),
    ]),
  }),
})

describe('the manifests for Kubernetes', () => {
  const documents = parseAllDocuments(read('collector-config/kafka/kubernetes.yaml')).map((each): unknown =>
    each.toJS(),
  )
  const [first, second, third] = documents
  const workers = deployment.parse(first)
  const disruption = budget.parse(second)
  const scaled = scaledObject.parse(third)
  const [container] = workers.spec.template.spec.containers

  it('speak of the same pods', () => {
    const { matchLabels } = workers.spec.selector
    expect(workers.spec.template.metadata.labels).toEqual(matchLabels)
    expect(disruption.spec.selector.matchLabels).toEqual(matchLabels)
    expect(scaled.spec.scaleTargetRef.name).toBe(workers.metadata.name)
    expect(documents).toHaveLength(3)
  })

  it('start the worker with options that it has, and look at the port that it listens on', () => {
    const given = new Map(container.args.map((arg) => arg.split('=') as [string, string]))
    expect([...given.keys()].filter((name) => !options.has(name))).toEqual([])
    expect(given.get('--role')).toBe('worker')
    expect(given.get('--http-port')).toBe(String(container.ports[0]?.containerPort))
    expect(container.livenessProbe.httpGet.path).toBe('/health')
    expect(container.readinessProbe.httpGet.path).toBe('/ready')
  })

  it('scale by the lag of the group and the topic that workers read, up to the number of partitions', () => {
    const [{ metadata }] = scaled.spec.triggers
    expect(metadata).toMatchObject({ consumerGroup: 'spanscore', topic: 'spanscore.spans' })
    expect(scaled.spec.maxReplicaCount).toBe(partitions)
    expect(container.args).toContain(`--brokers=${metadata.bootstrapServers}`)
  })
})

describe('the services for Docker Compose', () => {
  interface Service {
    readonly command?: readonly string[]
    readonly container_name?: string
    readonly ports?: readonly string[]
    readonly depends_on?: Readonly<Record<string, unknown>>
  }
  const { services }: { services: Record<string, Service> } = parse(read('collector-config/kafka/docker-compose.yml'))
  const base: { services: Record<string, Service> } = parse(read('collector-config/docker-compose.yml'))

  it('start the worker with options that it has', () => {
    const names = services['worker']?.command?.filter((part) => part.startsWith('--')) ?? []
    expect(names).toContain('--role')
    expect(names.filter((name) => !options.has(name))).toEqual([])
  })

  it('can be scaled: the worker has no name and no port of its own', () => {
    expect(services['worker']).not.toHaveProperty('container_name')
    expect(services['worker']).not.toHaveProperty('ports')
  })

  it('depend on services that there are, and publish ports on loopback alone', () => {
    const needed = Object.values(services).flatMap(({ depends_on = {} }) => Object.keys(depends_on))
    expect(needed.filter((name) => !(name in services) && !(name in base.services))).toEqual([])
    const open = Object.values(services).flatMap(({ ports = [] }) => ports)
    expect(open.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([])
  })
})
