import { expect, it } from 'vitest'
import { withoutIdentity } from './adk.ts'

it.each([
  ['You are an agent. Your internal name is "a". Be brief.', 'Be brief.'],
  ['You are an agent. Your internal name is "a".\n\nThe description about you is "helps".\n\nBe brief.', 'Be brief.'],
  ['Be brief.\n\nYou are an agent. Your internal name is "a".', 'Be brief.'],
  ['Be brief.\n\nYou are an agent. Your internal name is "a". The description about you is "helps"', 'Be brief.'],
  ['Be brief.\n\n\nYou have a list of other agents to transfer to:\n\nAgent name: b', 'Be brief.'],
  ['Be brief.', 'Be brief.'],
  ['You are an agent. Your internal name is "a', 'You are an agent. Your internal name is "a'],
])('keeps of %j what the developer wrote', (text, own) => {
  expect(withoutIdentity(text)).toBe(own)
})

it('ends on long texts, on which a search back from each place would not', { timeout: 60_000 }, () => {
  for (const piece of ['\n', ' ', 'You are an agent. Your internal name is "', 'The description about you is "']) {
    const long = piece.repeat(50_000)
    expect(() => withoutIdentity(long)).not.toThrow()
    expect(() => withoutIdentity('You are an agent. Your internal name is "a".' + long)).not.toThrow()
  }
})
