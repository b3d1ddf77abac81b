import { expect, it } from 'vitest'

import { boundedResource } from './bounded-resource.ts'

it('a usual resource stays as it is', () => {
  const resource = { 'service.name': 'shop', 'process.pid': 5, 'process.command_args': ['node', 'main.js'] }
  expect(boundedResource(resource)).toBe(resource)
})

it('long values are left out, and the name of the service is shortened', () => {
  const resource = { note: 'a'.repeat(5000), zone: 'eu', 'service.name': 'n'.repeat(5000), nested: { a: 1 } }
  expect(boundedResource(resource)).toEqual({ 'service.name': 'n'.repeat(256), zone: 'eu' })
  expect(boundedResource(resource)).toBe(boundedResource(resource))
})

it('many attributes leave room for those of the service', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`label.${index}`, 'x'.repeat(50)]))
  const kept = boundedResource({ ...many, 'service.version': '1', 'service.name': 'shop' })
  expect(kept).toMatchObject({ 'service.name': 'shop', 'service.version': '1' })
  expect(JSON.stringify(kept).length).toBeLessThan(6000)
})
