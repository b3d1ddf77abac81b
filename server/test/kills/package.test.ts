import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { expect, it } from 'vitest'

import { createSink } from '../sink.ts'
import { makeRun, post, until } from '../traces.ts'

const root = join(import.meta.dirname, '../../..')

it('starts and scores from the two packages, installed in an empty folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-package-'))
  const packs = join(folder, 'packs')
  mkdirSync(packs)
  // Both packages were built before this test, and the built files are packed.
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', packs]
  execFileSync('npm', pack, { cwd: root })
  execFileSync('npm', pack, { cwd: join(root, 'server') })
  const tarballs = readdirSync(packs).map((file) => join(packs, file))
  expect(tarballs).toHaveLength(2)
  execFileSync('npm', ['init', '--yes'], { cwd: folder, stdio: 'ignore' })
  execFileSync('npm', ['install', '--no-fund', '--no-audit', '--loglevel=error', ...tarballs], { cwd: folder })

  const assets = join(folder, 'node_modules/@spanscore/server/dist/assets')
  const licences = readFileSync(join(assets, 'third-party-licences.txt'), 'utf8')
  for (const name of ['preact', 'preact-iso', 'uplot']) expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'))

  await using sink = await createSink()
  const child = spawn(
    process.execPath,
    [
      join(folder, 'node_modules/@spanscore/server/dist/main.js'),
      '--to',
      sink.url,
      '--http-port',
      '0',
      '--grpc-port',
      '0',
      '--settle',
      '0.3',
      '--page',
      '--page-port',
      '0',
    ],
    { cwd: folder, stdio: ['ignore', 'inherit', 'pipe'] },
  )
  const [port, page] = await new Promise<readonly [port: number, page: URL]>((resolve, reject) => {
    const lines: string[] = []
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line)
      const found = [/127\.0\.0\.1:(\d+) and/, /The page is at (\S+)/].map(
        (pattern) => pattern.exec(lines.join('\n'))?.[1],
      )
      if (found[0] !== undefined && found[1] !== undefined) resolve([Number(found[0]), new URL(found[1])])
    })
    child.once('exit', () => reject(new Error(lines.join('\n'))))
  })
  const run = makeRun()
  for (const request of run.requests) expect(await post(port, request)).toBe(200)
  await until(() => sink.logs.length >= 3, 'the scores', 20_000)
  const html = await (await fetch(page.origin)).text()
  const script = /src="([^"]+)"/.exec(html)?.[1] ?? ''
  expect((await fetch(new URL(script, page))).headers.get('content-type')).toContain('javascript')
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  rmSync(folder, { recursive: true, force: true })
})
