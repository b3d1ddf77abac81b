import { mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, expect, it, vi } from 'vitest'

import { ConfigWatcher } from './config-watcher.ts'

const folder = mkdtempSync(join(tmpdir(), 'spanscore-watched-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A watcher that checks when the test says so. */
function watch(name: string, text = 'scorers: [loop]') {
  const path = join(folder, name)
  writeFileSync(path, text)
  const taken: string[] = []
  const lines: string[] = []
  vi.useFakeTimers({ toFake: ['setInterval'] })
  const watcher = new ConfigWatcher({
    path,
    text,
    take: (config) => taken.push(config.text),
    report: (line) => lines.push(line),
  })
  vi.useRealTimers()
  const check = (times = 2): void => {
    for (let time = 0; time < times; time += 1) watcher.check()
  }
  return { path, taken, lines, watcher, check, write: (next: string) => writeFileSync(path, next) }
}

it('takes a changed file once it has stopped changing, and takes it once', () => {
  const { taken, check, write, watcher } = watch('a.yaml')
  check()
  write('scorers: [loop, tool_')
  check(1)
  write('scorers: [loop, tool_errors]')
  check(1)
  expect(taken).toEqual([])
  check(3)
  expect(taken).toEqual(['scorers: [loop, tool_errors]'])
  expect(watcher.trouble).toBeUndefined()
})

it('names what is wrong with a file, reports it once, and forgets it when the file is as before', () => {
  const { taken, check, write, watcher, lines } = watch('b.yaml')
  write('scorers: [lop]')
  check(4)
  expect(watcher.trouble).toMatch(/the one before it stays in effect: .*b\.yaml: scorers\[0\]: .*Did you mean loop\?/)
  expect(lines).toEqual([watcher.trouble])
  write('scorers: [loop]')
  check()
  expect(watcher.trouble).toBeUndefined()
  expect(taken).toEqual([])
})

it('keeps the configuration of a deleted file, and takes the one that replaces it', () => {
  const { path, taken, check, write, watcher } = watch('c.json', '{"scorers": ["loop"]}')
  unlinkSync(path)
  check()
  expect(watcher.trouble).toMatch(/ENOENT/)
  write('{"scorers": ["tool_errors"]}')
  check()
  expect(watcher.trouble).toBeUndefined()
  expect(taken).toEqual(['{"scorers": ["tool_errors"]}'])
})

it('follows a link that is replaced, as Kubernetes replaces mounted files', () => {
  const { path, taken, check } = watch('d.yaml')
  writeFileSync(join(folder, 'next.yaml'), 'scorers: [tool_errors]')
  unlinkSync(path)
  symlinkSync(join(folder, 'next.yaml'), path)
  check()
  expect(taken).toEqual(['scorers: [tool_errors]'])
})
