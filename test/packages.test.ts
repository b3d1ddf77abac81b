import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

interface Packed {
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

/** What npm would publish. */
function pack(workspace: string): Packed {
  const printed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--workspace', workspace], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [packed] = JSON.parse(printed) as [Packed]
  return packed
}

function manifestOf(folder: string) {
  return JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as Record<string, Readonly<Record<string, string>>>
}

/** Everything but programs and declarations that a package may hold. */
const TEXTS = ['CHANGELOG.md', 'LICENSE', 'README.md', 'dist/third-party-licences.txt', 'package.json']
const SAMPLE = ['sample/spanscore.config.mjs', 'sample/traces.jsonl']

describe('the package spanscore', () => {
  const { size, files } = pack('.')
  const paths = files.map(({ path }) => path)

  it('is at most a megabyte, in few files, with declarations in one file for each entry', () => {
    expect(size).toBeLessThan(1_000_000)
    expect(paths.length).toBeLessThan(45)
    expect(paths.filter((path) => /^dist\/entries\/.*\.d\.ts$/.test(path)).length).toBeLessThan(10)
  })

  it('holds no sources, tests, docs, maps or pictures', () => {
    expect(paths.filter((path) => !/^dist\/(?:entries|chunks)\/[\w-]+(?:\.d\.ts|\.js)$/.test(path))).toEqual(TEXTS)
  })

  it('loads one file for its main entry, in ASCII, with no part of Node.js that costs memory', () => {
    const main = readFileSync('dist/entries/main.js', 'utf8')
    const chunk = /^export \{.*\} from "\.\.\/(chunks\/[\w-]+\.js)";\n$/.exec(main)?.[1] ?? ''
    const code = readFileSync(`dist/${chunk}`, 'latin1')
    expect([...code.matchAll(/^import .* from "(.*)";$/gm)].map(([, name]) => name).toSorted()).toEqual([
      '@opentelemetry/api',
      'node:async_hooks',
      'node:diagnostics_channel',
      'node:util/types',
    ])
    expect(code).not.toMatch(/[^\n\t -~]/)
  })

  it('installs nothing but the API of OpenTelemetry', () => {
    const { dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta = {} } = manifestOf('.')
    expect({ dependencies, optionalDependencies }).toEqual({})
    expect(Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name] === undefined)).toEqual([
      '@opentelemetry/api',
    ])
  })
})

describe('the package @spanscore/cli', () => {
  const { size, files } = pack('@spanscore/cli')

  it('is at most a megabyte, and holds programs and a sample alone', () => {
    expect(size).toBeLessThan(1_000_000)
    const paths = files.map(({ path }) => path).filter((path) => !/^(?:bin|dist)\/[\w-]+\.js$/.test(path))
    expect(paths).toEqual([...TEXTS.filter((path) => path !== 'CHANGELOG.md'), ...SAMPLE])
  })

  it('needs the version of spanscore that it was built with', () => {
    const { peerDependencies = {} } = manifestOf('cli')
    expect(peerDependencies['spanscore']).toBe(manifestOf('.')['version'])
  })
})

describe('a release', () => {
  it('is refused while the addresses in the metadata are placeholders', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/check-release.ts'], { encoding: 'utf8' })
    const manifests = ['.', 'cli', 'server'].map((folder) => JSON.stringify(manifestOf(folder)))
    const isPlaceholder = manifests.some((manifest) => manifest.includes('example.com'))
    expect(status).toBe(isPlaceholder ? 1 : 0)
    expect(stderr.includes('package.json')).toBe(isPlaceholder)
  })
})
