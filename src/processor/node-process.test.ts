import { expect, it } from 'vitest'

import { atExit } from './node-process.ts'

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
