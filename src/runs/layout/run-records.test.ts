import { expect, it } from 'vitest'

import { isSameRun, RunRecords } from './run-records.ts'
import type { RunSigns } from './run-records.ts'

const older: RunSigns = {
  library: 'ai-sdk',
  form: 'older',
  isOfClient: undefined,
  agentName: 'Ann',
  startMs: 1000,
  endMs: 1500,
  responseIds: ['r1', 'r2'],
  callIds: [],
  question: undefined,
}
const newer: RunSigns = { ...older, form: 'newer', startMs: 1005, endMs: 1510 }
const silent = { responseIds: [], question: 'Why?' }
const bare = { form: undefined, agentName: undefined }

it.each<[boolean, string, RunSigns, RunSigns]>([
  [true, 'the same responses', older, newer],
  [false, 'other responses', older, { ...newer, responseIds: ['r3'] }],
  [false, 'another agent', older, { ...newer, agentName: 'Bob' }],
  [false, 'a start much later', older, { ...newer, startMs: 1101 }],
  [false, 'the same form', older, { ...older, startMs: 1001 }],
  [false, 'another library', older, { ...newer, library: 'mastra' }],
  [true, 'no response and the same question', { ...older, ...silent }, { ...newer, ...silent }],
  [
    true,
    'no response, on a busy machine',
    { ...older, ...silent },
    { ...newer, ...silent, startMs: 1060, endMs: 1580 },
  ],
  [false, 'no response and another question', { ...older, ...silent }, { ...newer, ...silent, question: 'How?' }],
  [false, 'no response and an end much later', { ...older, ...silent }, { ...newer, ...silent, endMs: 1601 }],
  [false, 'a response in the newer form alone', { ...older, ...silent }, { ...newer, question: 'Why?' }],
  [
    true,
    'a response in the newer form alone, and the same tool call',
    { ...older, ...silent, callIds: ['c'] },
    { ...newer, question: 'Why?', callIds: ['c'] },
  ],
  [
    true,
    "a client's own record of the responses",
    { ...older, ...bare, isOfClient: true, library: 'anthropic-sdk' },
    { ...newer, ...bare, isOfClient: false },
  ],
  [false, 'two clients', { ...older, ...bare, isOfClient: true }, { ...newer, ...bare, isOfClient: true }],
])('%s: %s', (isSame, _, left, right) => {
  expect(isSameRun(left, right)).toBe(isSame)
  expect(isSameRun(right, left)).toBe(isSame)
  const records = new RunRecords<string>()
  records.add(right, 'found')
  expect(records.find(left)).toBe(isSame ? 'found' : undefined)
})

it('finds a record among many that have the same response, as those of a server in a test', () => {
  const records = new RunRecords<string>()
  for (let at = 0; at < 100; at += 1) records.add({ ...newer, agentName: `Agent ${at}` }, `${at}`)
  expect(records.find({ ...older, agentName: 'Agent 70' })).toBe('70')
})
