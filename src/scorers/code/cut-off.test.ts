import { expect, it } from 'vitest'

import { notRecorded, saying, score } from '../../../test/fixtures/code-runs.ts'
import { createCutOffScorer } from './cut-off.ts'
import { createLinkSourcesScorer } from './link-sources.ts'

const ended = (...finishReasons: readonly string[]) => ({
  steps: [{ finishReasons: ['tool_calls'] }, { finishReasons }] as never,
})

it.each([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['FinishReason.MAX_TOKENS', 'length'],
  ['max_output_tokens', 'length'],
  ['content-filter', 'filter'],
  ['SAFETY', 'filter'],
  ['guardrail_intervened', 'filter'],
])('an answer that ended by %s was cut off', (reason, verdict) => {
  expect(score(createCutOffScorer(), ended(reason))).toMatchObject({ value: 1, label: 'fail', findings: [{ verdict }] })
})

it.each(['stop', 'end_turn', 'STOP', 'COMPLETE', 'tool_calls', 'a reason of tomorrow'])('%s is no cut', (reason) => {
  expect(score(createCutOffScorer(), ended(reason))).toMatchObject({ value: 0, label: 'pass' })
})

it('without a reason, or without an end, nothing is known', () => {
  expect(score(createCutOffScorer(), ended())).toMatchObject({ reason: 'no-content' })
  expect(score(createCutOffScorer(), { ...ended('length'), status: 'error' })).toMatchObject({ reason: 'run-failed' })
})

const links = createLinkSourcesScorer()

it('links are compared without scheme, fragment and trailing slash', () => {
  const toolCalls = [{ result: { url: 'http://Docs.example/a/', more: ['https://docs.example/b?c=1'] } }] as never
  const output = 'See https://docs.example/a#top, [b](https://docs.example/b?c=1) and (https://docs.example/a/).'
  expect(score(links, { toolCalls, output })).toMatchObject({ value: 1, label: 'pass' })
  expect(score(links, { toolCalls, output: `${output} Or https://docs.example/A.` })).toMatchObject({
    value: 2 / 3,
    findings: [{ verdict: 'no_source', text: 'https://docs.example/A' }],
  })
})

it('links may be from instructions, messages and documents', () => {
  const output = 'https://a.example https://b.example https://c.example'
  const retrievals = [
    { kind: 'search', status: 'ok', documents: [{ id: 'https://c.example/', content: 'c' }] },
  ] as const
  const input = [{ role: 'user', text: 'Is https://b.example good?', parts: [] }]
  expect(score(links, { output, retrievals, input, systemInstructions: 'Name https://a.example.' })).toMatchObject({
    value: 1,
  })
})

it('an answer without links is not applicable, and a link may be from what was not recorded', () => {
  expect(saying(links, 'Hello')).toMatchObject({ reason: 'not-applicable' })
  const toolCalls = [{ name: 'search', status: 'ok' }] as never
  const unrecorded = { toolCalls, output: 'https://a.example', ...notRecorded('toolCalls[0].result') }
  expect(score(links, unrecorded)).toMatchObject({ status: 'skipped', reason: 'no-content' })
})
