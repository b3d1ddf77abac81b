/** A service in a container whose root file system is read-only. Mount namespaces need root. */
import { spawn, spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { tmpdir } from 'node:os'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { createSink } from '../sink.ts'
import { makeRun, post, toRequest, until } from '../traces.ts'

const MAIN = resolve('server/dist/main.js')
const USER = 1000

/** Everything but one folder is read-only, `/tmp` and the working folder included, and there is no `/dev/shm`. */
const SCRIPT = `
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
mount -t tmpfs -o ro,size=4k none /dev/shm
awk '$2 !~ "^/(proc|sys|dev)" { print $2 }' /proc/self/mounts | while read -r at; do
  if [ "$at" != "$1" ]; then mount -o remount,ro,bind "$at"; fi
done
shift
exec setpriv --reuid ${USER} --regid ${USER} --clear-groups "$@"
`

const canUnshare = spawnSync('unshare', ['-m', 'setpriv', '--version']).status === 0

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-only-'))
  chownSync(folder, USER, USER)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Starts the service there, and resolves when it has said what matches. */
async function start(args: readonly string[], ready: RegExp) {
  const command = ['-m', 'bash', '-c', SCRIPT, 'bash', folder, process.execPath, MAIN, ...args]
  const child = spawn('unshare', command, { stdio: ['ignore', 'inherit', 'pipe'], env: { PATH: process.env['PATH'] } })
  const lines: string[] = []
  const match = await new Promise<RegExpExecArray>((found, failed) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line)
      const matched = ready.exec(line)
      if (matched !== null) found(matched)
    })
    child.once('exit', (code) => failed(new Error(`It ended with ${code}: ${lines.join('\n')}`)))
  })
  const stop = async (): Promise<void> => {
    const ended = new Promise((resolved) => child.once('exit', resolved))
    child.kill()
    await ended
  }
  return { lines, match, stop }
}

it.runIf(canUnshare)('starts where one folder can be written, as another user, and scores', async () => {
  await using sink = await createSink()
  const data = join(folder, 'data')
  const ports = ['--http-port', '0', '--grpc-port', '0', '--page', '--page-port', '0']
  for (const round of [1, 2]) {
    const args = ['--to', sink.url, '--data', data, '--settle', '0.2', ...ports]
    const { match, stop } = await start(args, /:(\d+) and OTLP\/gRPC/)
    expect(await post(Number(match[1]), toRequest(makeRun().spans))).toBe(200)
    await until(() => new Set(sink.logs.map(({ traceId }) => traceId)).size === round, 'a score')
    await stop()
  }
  expect(readdirSync(data)).toEqual(expect.arrayContaining(['page.db', 'spans.db']))
})

it.runIf(canUnshare)('names the file and the cause where it cannot write', async () => {
  const ports = ['--http-port', '0', '--grpc-port', '0']
  await expect(start(['--to', 'http://127.0.0.1:1', '--data', '/var/spanscore', ...ports], /never/)).rejects.toThrow(
    /ended with 2: .*\/var\/spanscore: expected a data folder that this user can write, got an error: .*EACCES|EROFS/,
  )
})
