import { readFileSync } from 'node:fs'

import { expect, it, test } from 'vitest'

import { atExit, complainOfNode } from './node-process.ts'

test.each(['v22.15.0', 'v22.20.1', 'v24.0.0', 'v26.10.0'])('%s is enough', (version) => {
  expect(complainOfNode(version)).toBeUndefined()
})

test.each(['v20.20.2', 'v22.14.0', 'v18.0.0'])('%s is too old, and the complaint names what is expected', (version) => {
  expect(complainOfNode(version)).toMatch(`Expected Node.js 22.15 or later, got ${version}`)
})

test('package.json requires the same version', () => {
  const { engines }: { engines: { node: string } } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(engines.node).toBe('>=22.15')
})

const listeners = () => [process.listenerCount('beforeExit'), process.listenerCount('exit')]

it('All hooks share two listeners of the process, which are removed with the last hook', () => {
  const [beforeExit = 0, exit = 0] = listeners()
  const hooks = { release: () => undefined, exited: () => undefined }
  const forgetFirst = atExit({ ...hooks })
  const forgetSecond = atExit({ ...hooks })
  expect(listeners()).toEqual([beforeExit + 1, exit + 1])
  forgetFirst()
  forgetFirst()
  expect(listeners()).toEqual([beforeExit + 1, exit + 1])
  forgetSecond()
  expect(listeners()).toEqual([beforeExit, exit])
  atExit({ ...hooks })()
  expect(listeners()).toEqual([beforeExit, exit])
})
