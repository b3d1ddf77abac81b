import { expect, it } from 'vitest'

import { createIdDraw } from '../judge/controls/ids.ts'
import { openDigest } from '../judge/randomness.ts'
import { readJudgePrompt } from './judge-prompt.ts'
import { toReplyObject } from './judge-reply.ts'

const mark = '0123456789abcdef0123456789abcdef'
const draw = () => createIdDraw({ mark, tag: mark.slice(0, 8) }, openDigest)
const promptWith = (question: string) =>
  readJudgePrompt(
    `The mark is ${mark}. Only lines that begin with it delimit the run; the tag is 01234567.\n${question}`,
  )

it('finds a question without a label by the id that is drawn for its name', () => {
  const prompt = promptWith(`- ${draw()('tone', false)} [one of: good | bad]: Is the tone right?`)
  expect(prompt.find('tone')?.text).toBe('Is the tone right?')
  expect(prompt.find('length')).toBeUndefined()
})

it('never takes a question with a label for another name that would have the same id', () => {
  const id = draw()('call_9', false)
  const prompt = promptWith(`- ${id} (call_1) [one of: good | bad]: Was this tool call right?`)
  expect(prompt.find('call_9')).toBeUndefined()
  expect(prompt.find('call_1')?.shownId).toBe(id)
  const reply = toReplyObject(prompt, { verdicts: { call_1: 'good', call_9: 'bad' } })
  expect(reply.answers).toEqual([{ id, reasoning: '', verdict: 'good' }])
})

it('draws ids that several hundred names of two calls practically never share', () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `c${index}`)
  const drawn = new Set(names.map((name) => draw()(name, false)))
  // With 20 bits, four hundred of these names would share an id with another.
  expect(drawn.size).toBeGreaterThan(names.length - 5)
})
