/**
 * Publishes the packages to a registry on this machine (Verdaccio), installs them from it into an empty folder as a user does, and runs
 * what they say: `npm run release:try`. Nothing leaves the machine; packages of others come from the registry that npm uses.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const repository = resolve(import.meta.dirname, '..')
const PACKAGES = ['spanscore', '@spanscore/cli', '@spanscore/server'] as const
const folder = mkdtempSync(join(tmpdir(), 'spanscore-release-'))
const upstream = npm(repository, 'config', 'get', 'registry').trim()
const port = await freePort()
const registry = `http://127.0.0.1:${port}/`
writeFileSync(
  join(folder, 'verdaccio.yaml'),
  `storage: ${folder}/storage
auth: { htpasswd: { file: ${folder}/users } }
uplinks: { upstream: { url: '${upstream}' } }
packages:
  spanscore: { access: $all, publish: $anonymous }
  '@spanscore/*': { access: $all, publish: $anonymous }
  '**': { access: $all, proxy: upstream }
log: { type: stdout, level: error }
`,
)
// A token is needed to publish, and any will do.
writeFileSync(join(folder, 'npmrc'), `registry=${registry}\n//127.0.0.1:${port}/:_authToken=anybody\n`)
// A tag of one of its packages is missing in some mirrors.
const tools = { private: true, dependencies: { verdaccio: '6.10.4' }, overrides: { 'node-fetch': '2' } }
mkdirSync(join(folder, 'registry'))
writeFileSync(join(folder, 'registry/package.json'), JSON.stringify(tools))
npm(join(folder, 'registry'), 'install', '--no-audit', '--no-fund', '--loglevel=error')
const server = spawn(
  join(folder, 'registry/node_modules/.bin/verdaccio'),
  ['--config', join(folder, 'verdaccio.yaml'), '--listen', `127.0.0.1:${port}`],
  { stdio: ['ignore', 'inherit', 'inherit'] },
)
try {
  await answering()
  for (const place of ['.', 'cli', 'server']) {
    // Scripts have run before: `npm run release:try` builds, and the check of the addresses is for the real registry.
    npm(
      join(repository, place),
      'publish',
      '--ignore-scripts',
      '--access',
      'public',
      '--userconfig',
      join(folder, 'npmrc'),
    )
  }
  const application = join(folder, 'application')
  mkdirSync(application)
  writeFileSync(join(application, 'package.json'), '{ "private": true, "type": "module" }')
  npm(application, 'install', ...PACKAGES, '--userconfig', join(folder, 'npmrc'), '--no-audit', '--no-fund')
  const bin = (name: string, ...args: readonly string[]): string =>
    execFileSync(join(application, 'node_modules/.bin', name), args, { cwd: application, encoding: 'utf8' })
  const names = execFileSync(
    process.execPath,
    ['-e', "import('spanscore').then((all) => console.log(Object.keys(all).length))"],
    {
      cwd: application,
      encoding: 'utf8',
    },
  )
  const sample = 'node_modules/@spanscore/cli/sample'
  const scored = bin('spanscore', 'score', `${sample}/traces.jsonl`, '--config', `${sample}/spanscore.config.mjs`)
  console.log(
    `spanscore exports ${names.trim()} names; spanscore-server is ${bin('spanscore-server', '--version').trim()}.`,
  )
  console.log(scored.split('\n').slice(0, 12).join('\n'))
  npm(application, 'ls', '--all')
  console.log(`Published ${PACKAGES.join(', ')} to a registry on this machine, installed and ran them.`)
} finally {
  server.kill()
  rmSync(folder, { recursive: true, force: true })
}

function npm(cwd: string, ...args: readonly string[]): string {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

async function answering(): Promise<void> {
  for (let tries = 0; tries < 240; tries++) {
    const isThere = await fetch(`${registry}-/ping`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isThere) return
    await delay(500)
  }
  throw new Error('Expected Verdaccio to answer within two minutes.')
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  listener.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}
