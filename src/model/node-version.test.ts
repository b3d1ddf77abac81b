import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { complainOfNode, refuseNode } from './node-version.ts'

test.each(['v22.15.0', 'v22.20.1', 'v24.0.0', 'v26.10.0'])('%s is enough', (version) => {
  expect(complainOfNode(version)).toBeUndefined()
})

test.each(['v20.20.2', 'v22.14.0', 'v18.0.0'])('%s is too old, and the complaint names what is expected', (version) => {
  expect(complainOfNode(version)).toMatch(`Expected Node.js 22.15 or later, got ${version}`)
})

test('a Node.js is refused only if it lacks what the package is built on', () => {
  for (const version of ['v22.3.0', 'v22.14.0', process.version]) expect(refuseNode(version)).toBeUndefined()
  for (const version of ['v18.20.8', 'v20.20.2', 'v22.2.0'])
    expect(refuseNode(version)).toBe(`spanscore needs Node.js 22.15 or later, and this is ${version}.`)
})

test('package.json requires the same version', () => {
  const { engines }: { engines: { node: string } } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(engines.node).toBe('>=22.15')
})
