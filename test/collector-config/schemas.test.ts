/** No container engine and no cluster runs these files here, so they are checked for unknown keys and by schemas. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1'
import { Ajv } from 'ajv'
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap, Secret, Service } from 'kubernetes-models/v1'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'

const require = createRequire(import.meta.url)
const root = resolve(import.meta.dirname, '../..')
const read = (name: string) => readFileSync(join(root, 'collector-config', name), 'utf8')

describe('Compose', () => {
  // The schema of the Compose specification, which dclint contains.
  const path = join(require.resolve('dclint/package.json'), '../schemas/compose.schema.json')
  const { $schema: _draft, ...schema }: Record<string, unknown> = JSON.parse(readFileSync(path, 'utf8'))
  const validate = new Ajv({ allErrors: true, strict: false, validateFormats: false }).compile(schema)
  const errorsOf = (file: unknown) => (validate(file) ? [] : validate.errors)

  it.each(['docker-compose.yml', 'kafka/docker-compose.yml'])('takes %s', (name) => {
    expect(errorsOf(parse(read(name)))).toEqual([])
  })

  it.each([
    ['a key that it does not know', { services: { worker: { image: 'worker', restarts: 'always' } } }],
    ['a value of another type', { services: { worker: { image: 'worker', ports: '8080' } } }],
  ])('refuses %s', (_what, file) => {
    expect(errorsOf(file)).not.toEqual([])
  })
})

/** The kinds of Kubernetes and KEDA, each with the module of its type and the function that validates its values. */
const KINDS = {
  Deployment: { from: 'kubernetes-models/apps/v1', toModel: (data: never) => new Deployment(data) },
  StatefulSet: { from: 'kubernetes-models/apps/v1', toModel: (data: never) => new StatefulSet(data) },
  ConfigMap: { from: 'kubernetes-models/v1', toModel: (data: never) => new ConfigMap(data) },
  Secret: { from: 'kubernetes-models/v1', toModel: (data: never) => new Secret(data) },
  Service: { from: 'kubernetes-models/v1', toModel: (data: never) => new Service(data) },
  NetworkPolicy: { from: 'kubernetes-models/networking.k8s.io/v1', toModel: (data: never) => new NetworkPolicy(data) },
  PodDisruptionBudget: { from: 'kubernetes-models/policy/v1', toModel: (data: never) => new PodDisruptionBudget(data) },
  ScaledObject: {
    from: '@kubernetes-models/keda/keda.sh/v1alpha1',
    toModel: (data: never) => new ScaledObject(data),
  },
}

interface Manifest {
  readonly kind: keyof typeof KINDS
}

/** Compiles manifests as values of their types, which declare every key. @returns one line for each error */
function unknownKeys(manifests: readonly Manifest[]): readonly string[] {
  const folder = mkdtempSync(join(root, 'node_modules', '.manifests-'))
  const file = join(folder, 'manifests.ts')
  const imports = Object.entries(KINDS).map(([kind, { from }]) => `import type { I${kind} } from '${from}'`)
  const values = manifests.map((each, index) => `export const m${index}: I${each.kind} = ${JSON.stringify(each)}`)
  writeFileSync(file, [...imports, ...values].join('\n'))
  const compiler = require.resolve('typescript/package.json')
  const options = '--noEmit --strict --skipLibCheck --ignoreConfig --pretty false --types --module nodenext'.split(' ')
  try {
    execFileSync(process.execPath, [join(compiler, '../bin/tsc'), ...options, file], {
      encoding: 'utf8',
      stdio: 'pipe',
    })
    return []
  } catch (error) {
    return String(Reflect.get(Object(error), 'stdout'))
      .trim()
      .split('\n')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('Kubernetes and KEDA', () => {
  const manifests = parseAllDocuments(read('kafka/kubernetes.yaml')).map((each): Manifest => each.toJS())

  it('take kubernetes.yaml', () => {
    expect(manifests.map(({ kind }) => kind)).toEqual(['Deployment', 'PodDisruptionBudget', 'ScaledObject'])
    expect(unknownKeys(manifests)).toEqual([])
    for (const each of manifests) KINDS[each.kind].toModel(each as never).validate()
  })

  it('take the manifest of the service, whose configuration and arguments the service takes, too', () => {
    const service = parseAllDocuments(read('kubernetes.yaml')).map((each): Manifest => each.toJS())
    expect(service.map(({ kind }) => kind)).toEqual(['ConfigMap', 'Secret', 'Service', 'StatefulSet', 'NetworkPolicy'])
    expect(unknownKeys(service)).toEqual([])
    for (const each of service) KINDS[each.kind].toModel(each as never).validate()
    const [config, , , set] = service as unknown as [
      { data: Record<string, string> },
      unknown,
      unknown,
      { spec: { template: { spec: { containers: readonly [{ args: readonly string[] }] } } } },
    ]
    const folder = mkdtempSync(join(root, 'node_modules', '.manifests-'))
    try {
      const path = join(folder, 'spanscore.yaml')
      writeFileSync(path, config.data['spanscore.yaml'] ?? '')
      writeFileSync(join(folder, 'sender-token'), 'REPLACE-WITH-16-OR-MORE-CHARACTERS')
      const args = set.spec.template.spec.containers[0].args
        .map((each) => each.replace(/\/etc\/spanscore(?:-secrets)?/, folder))
        .map((each) => (each.startsWith('--to=') ? '--to=http://127.0.0.1:1' : each))
      const options = { encoding: 'utf8', timeout: 30_000 } as const
      const { stderr } = spawnSync(process.execPath, [join(root, 'server/src/main.ts'), ...args, '--check'], options)
      expect(stderr).toContain('The configuration can be used: tool_errors, prompt_alignment')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('refuse unknown keys at any level', () => {
    const text = read('kafka/kubernetes.yaml')
    const mistakes = [
      ['periodSeconds: 5', 'periodSecond: 5'],
      ['maxUnavailable: 1', 'maxUnavailability: 1'],
      ['cooldownPeriod: 600', 'coolDownPeriod: 600'],
      ['failureThreshold: 3', 'failuresThreshold: 3'],
    ] as const
    for (const [right, wrong] of mistakes) {
      expect(text).toContain(right)
      const [changed] = parseAllDocuments(text.replaceAll(right, wrong))
        .map((each): Manifest => each.toJS())
        .filter((each) => JSON.stringify(each).includes(wrong.split(':')[0] ?? ''))
      expect(unknownKeys([changed!]).join('\n')).toContain(wrong.split(':')[0])
    }
  })

  it('refuse values of another kind', () => {
    const data = { apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas: 'three' } } as never
    expect(() => new Deployment(data).validate()).toThrow(/replicas must be integer/)
  })
})
