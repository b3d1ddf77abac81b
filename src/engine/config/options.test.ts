import { NoopSpanProcessor } from '@opentelemetry/sdk-trace'
import { describe, expect, test } from 'vitest'

import { createLoopScorer } from '../../scorers/code/loop.ts'
import { createScorer } from '../../scorers/create/create-scorer.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import { alertTable, budgetTable, emitTable, optionTable, scorerEntryTable } from './option-table.ts'
import type { OptionRow } from './option-table.ts'
import { resolveOptions } from './options.ts'
import type { ScorerEntry, ScoringOptions } from './scoring-options.ts'

const scorer = defineScorer({
  id: 'exact',
  description: 'Test.',
  kind: 'code',
  assess: () => ({ status: 'scored', value: 1 }),
})
const judge = (priced: boolean, missing?: string) =>
  defineScorer({
    id: 'judged',
    description: 'Test.',
    kind: 'judge',
    judge: { model: 'local/llama', priced, estimate: () => ({ calls: 1, tokens: 1 }), unavailable: () => missing },
    assess: () => ({ status: 'scored', value: 1 }),
  })

test('a scorer without an entry gets all defaults', () => {
  expect(resolveOptions({ scorers: [scorer] })).toMatchObject({
    scorers: [{ id: 'exact', scope: 'root', sample: 1, about: { passAt: 1 } }],
    budget: { callsPerMinute: 60, usdPerDay: 10, tokensPerHour: Number.POSITIVE_INFINITY, share: 1 },
    concurrency: 8,
    queueSize: 1000,
    timeoutMs: 20_000,
    holdMs: 5000,
    settleMs: 2000,
    maxSpansPerRun: 2000,
    memoryBytes: 64 * 1024 * 1024,
    maxIdleMs: 3_600_000,
    maxSyncBytes: 256 * 1024,
    flushTimeoutMs: 10_000,
    shutdownTimeoutMs: 5000,
    emit: { attributes: true, events: true, lateSpans: 'late', metrics: true, explanations: 'all' },
  })
})

test('alerts become numbers: levels are positions in the range of the scorer', () => {
  const severity = defineScorer({ ...scorer, id: 'severity', range: [1, 5], better: 'lower', passAt: 2 })
  const { scorers } = resolveOptions({
    scorers: [
      scorer,
      { scorer, id: 'watched', alerts: { target: 0.8, severity: 'page', drop: 'off', runsTogether: 5 } },
      { scorer: severity, alerts: { target: 2, on: 'mean', usual: 3 } },
    ],
  })
  expect(scorers.map(({ alerts }) => alerts)).toEqual([
    { drop_severity: 1, runs_together: 1, worst_score: 0, best_score: 1 },
    {
      target_passed: 0.8,
      target_severity: 2,
      drop_severity: 0,
      runs_together: 5,
      worst_score: 0,
      best_score: 1,
    },
    {
      target_mean: 0.75,
      usual_mean: 0.5,
      target_severity: 1,
      drop_severity: 1,
      runs_together: 1,
      worst_score: 5,
      best_score: 1,
    },
  ])
})

test.each([
  [{ target: 80 }, /scorers\[0\]\.alerts\.target: expected a share of runs above 0 and at most 1.*got 80/],
  [{ target: 7, on: 'mean' }, /alerts\.target: expected a mean .* from 0 to 1, got 7/],
  [{ severity: 'page' }, /alerts\.severity: expected target beside it/],
  [{ on: 'mean' }, /alerts\.on: expected target or usual beside it/],
  [{ traget: 0.8 }, /Did you mean target\?/],
  [{ runsTogether: 0 }, /alerts\.runsTogether: expected a whole number, 1 or more/],
] as const)('alerts %o are refused', (alerts, message) => {
  const entry: unknown = { scorer, alerts }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wrong on purpose
  expect(() => resolveOptions({ scorers: [entry as ScorerEntry] })).toThrow(message)
})

test('settings of a scorer take precedence over those of the processor', () => {
  const { scorers } = resolveOptions({
    sample: 0.1,
    scope: 'every-agent',
    scorers: [scorer, { scorer, id: 'other', agent: 'weather', sample: 0.5, scope: 'root', passAt: 0.5 }],
  })
  expect(scorers).toMatchObject([
    { id: 'exact', sample: 0.1, scope: 'every-agent', about: { passAt: 1 } },
    { id: 'other', sample: 0.5, scope: 'root', passAt: 0.5, agents: new Set(['weather']) },
  ])
})

describe('wrong options are refused with their path, what was expected and what came', () => {
  test.each<[string, unknown, RegExp]>([
    ['no scorers', {}, /options\.scorers: expected a list of at least one scorer.*, got undefined/],
    [
      'a scorer in place of the options',
      scorer,
      /options: expected an object such as \{ scorers: \[scorer\] \}, got the scorer \w+/,
    ],
    ['a list in place of the options', [scorer], /options: expected an object such as .*, got a list/],
    ['an empty list', { scorers: [] }, /options\.scorers: expected .*, got \[\]/],
    ['no scorer', { scorers: [{ scorer: {} }] }, /options\.scorers\[0\]\.scorer: expected a scorer/],
    ['equal ids', { scorers: [scorer, scorer] }, /options\.scorers\[1\]: expected an id that differs.*id: 'exact_2'/],
    ['a bad id', { scorers: [{ scorer, id: 'Bad Id' }] }, /options\.scorers\[0\]\.id: expected a match/],
    [
      'a pass mark out of range',
      { scorers: [{ scorer, passAt: 7 }] },
      /options\.scorers\[0\]\.passAt: expected a number from 0 to 1.*got 7/,
    ],
    [
      'a rate above 1',
      { scorers: [scorer], sample: 5 },
      /options\.sample: expected 0, a number from 0\.001 to 1.*got 5/,
    ],
    ['a rate of a scorer', { scorers: [{ scorer, sample: '1' }] }, /options\.scorers\[0\]\.sample: .* got "1"/],
    [
      'an unknown option',
      { scorers: [scorer], samples: 1 },
      /options\.samples: expected sample, got an unknown option\. Did you mean sample\?/,
    ],
    [
      'a misspelt option',
      { scorers: [scorer], sampel: 1 },
      /options\.sampel: expected sample, got an unknown option\. Did you mean sample\?/,
    ],
    [
      'an option of another library',
      { scorers: [scorer], temperature: 1 },
      /options\.temperature: expected one of scorers, scope, .*got an unknown option\.$/,
    ],
    [
      'a scorer without its score step',
      { scorers: [createScorer({ id: 'unfinished', description: 'Test.' })] },
      /options\.scorers\[0\]: expected a scorer.*got createScorer\(…\) without its score step; end it with \.generateScore/,
    ],
    [
      'a factory that was not called',
      { scorers: [createLoopScorer] },
      /options\.scorers\[0\]: expected a scorer.*call createLoopScorer\(\{ … \}\).*got the function createLoopScorer/,
    ],
    [
      'a factory that was not called, in an entry',
      { scorers: [{ scorer: createLoopScorer }] },
      /options\.scorers\[0\]\.scorer: expected a scorer.*call createLoopScorer/,
    ],
    ['an unknown option of a scorer', { scorers: [{ scorer, agents: 'a' }] }, /options\.scorers\[0\]\.agents/],
    ['a time that is none', { scorers: [scorer], holdMs: -1 }, /options\.holdMs: expected milliseconds.* got -1/],
    [
      'a count that is none',
      { scorers: [scorer], concurrency: 0.5 },
      /options\.concurrency: expected a whole number, 1 or more, got 0\.5/,
    ],
    ['a scope', { scorers: [scorer], scope: 'all' }, /options\.scope: expected one of root, every-agent, got "all"/],
    [
      'an exporter in place of a processor',
      { scorers: [scorer], next: { export() {} } },
      /options\.next: expected an object with onStart/,
    ],
    ['a callback', { scorers: [scorer], onScore: true }, /options\.onScore: expected a function, got true/],
    [
      'a switch',
      { scorers: [scorer], emit: { lateSpans: true } },
      /options\.emit\.lateSpans: expected one of late, always, never/,
    ],
    [
      'a share',
      { scorers: [scorer], budget: { share: 40 } },
      /options\.budget\.share: expected a number above 0 and at most 1/,
    ],
    [
      'a provider',
      { scorers: [scorer], meterProvider: {} },
      /options\.meterProvider: expected an object with getMeter/,
    ],
    [
      'one metric attribute without its list',
      { scorers: [scorer], metricAttributes: 'tenant' },
      /options\.metricAttributes: expected a list of names, got "tenant"/,
    ],
    [
      'a metric attribute that holds content, where content is stripped',
      {
        scorers: [scorer],
        next: new NoopSpanProcessor(),
        stripContent: true,
        metricAttributes: ['tenant', 'gen_ai.output.messages'],
      },
      /options\.metricAttributes: expected names without content, because of stripContent, got "gen_ai\.output\.messages"/,
    ],
    [
      'no agent at all',
      { scorers: [{ scorer, agent: [] }] },
      /options\.scorers\[0\]\.agent: expected a name, or a list of at least one name, got \[\]/,
    ],
    [
      'a rate under which one run would count for more than a thousand',
      { scorers: [scorer], sample: 0.0005 },
      /options\.sample: expected 0, a number from 0\.001 to 1.*got 0\.0005/,
    ],
    [
      'an upstream probability of another kind',
      { scorers: [scorer], upstreamProbability: 'sampler' },
      /options\.upstreamProbability: expected 'tracestate', or a number above 0 and at most 1, got "sampler"/,
    ],
    ['no object', 'sample', /options: expected an object, got "sample"/],
  ])('%s', (_, options, message) => {
    expect(() => resolveOptions(options as ScoringOptions)).toThrow(message)
  })
})

test('a configured limit in dollars is refused if a model has no price; the default limit is not', () => {
  expect(() => resolveOptions({ scorers: [judge(false)], budget: { usdPerDay: 5 } })).toThrow(
    /options\.budget\.usdPerDay: expected a price for local\/llama/,
  )
  expect(() => resolveOptions({ scorers: [judge(false)] })).not.toThrow()
  expect(() => resolveOptions({ scorers: [judge(true)], budget: { usdPerDay: 5 } })).not.toThrow()
})

test('strict refuses judges that cannot be asked', () => {
  const options = { scorers: [judge(true, 'OPENAI_API_KEY is not set')] }
  expect(() => resolveOptions(options)).not.toThrow()
  expect(() => resolveOptions({ ...options, strict: true })).toThrow(
    /options\.strict: .*judged.*OPENAI_API_KEY is not set/,
  )
})

describe('the table of options', () => {
  test('has defaults that their kinds accept', () => {
    const rows = [optionTable, scorerEntryTable, alertTable, budgetTable, emitTable].flatMap((table) =>
      Object.entries<OptionRow>(table),
    )
    const bad = rows.filter(([, { kind, defaultIn, default: fixed }]) => {
      const value = defaultIn?.({}) ?? fixed
      return value !== undefined && !kind.accepts(value)
    })
    expect(bad).toEqual([])
  })
})
