import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, expect, it } from 'vitest'

import { createSink } from '../sink.ts'
import { makeRun, post, toRequest, until } from '../traces.ts'
import { startProgram } from '../program.ts'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'spanscore-backup-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('copies a folder under load, and a service that starts with the copy scores the rest', async () => {
  await using sink = await createSink()
  const [data, out] = [join(folder, 'data'), join(folder, 'copy')]
  const ports = ['--http-port', '0', '--grpc-port', '0', '--page', '--page-port', '0']
  const ready = /OTLP\/HTTP on .*:(\d+) and/
  // Nothing is scored before the copy.
  const before = await startProgram(['--to', sink.url, '--data', data, '--settle', '60', ...ports], { ready })
  const sent: string[] = []
  const over = new AbortController()
  const load = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const { traceId, spans } = makeRun()
      if ((await post(Number(before.match[1]), toRequest(spans))) === 200) sent.push(traceId)
    }
  }
  const loads = [load(), load(), load()]
  await until(() => sent.length > 100, 'some runs')
  const sentBefore = [...sent]
  await promisify(execFile)(process.execPath, [MAIN, 'backup', '--data', data, '--out', out])
  over.abort()
  await Promise.all(loads)
  await before.kill()
  expect(readdirSync(out).toSorted()).toEqual(['page-token', 'page.db', 'spans.db'])
  expect(statSync(out).mode & 0o777).toBe(0o700)
  const after = await startProgram(['--to', sink.url, '--data', out, '--settle', '0.2', ...ports], { ready })
  const scored = () => new Set(sink.logs.map(({ traceId }) => traceId))
  await until(() => sentBefore.every((traceId) => scored().has(traceId)), 'the scores of all runs', 60_000)
  await after.stop()
  await expect(promisify(execFile)(process.execPath, [MAIN, 'backup', '--data', data, '--out', out])).rejects.toThrow(
    /--out .*copy: expected an empty folder, got one with files\./,
  )
})
