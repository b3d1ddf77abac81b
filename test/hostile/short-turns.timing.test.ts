import { beforeAll, expect, test } from 'vitest'

import { createPromptAlignmentScorerLLM } from '../../src/scorers/judge/alignment/prompt-alignment.ts'
import { createFaithfulnessScorer } from '../../src/scorers/judge/items/faithfulness.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import type { Scorer } from '../../src/scoring/scorer.ts'
import { createTextModel } from '../../src/testing/text-model.ts'
import { LongTurns } from '../fuzz/long-turns.ts'
import { oddValues, readingMs } from './dense-run.ts'
import type { DenseShape } from './dense-run.ts'
import { endLargeRuns, shutDownWithoutTime, warmUp } from './large-run-endings.ts'
import type { Ending } from './large-run-endings.ts'
import { playLogFlood } from './log-flood.ts'
import { agentlessCalls, agentlessGroups, dense, graphs, manyCalls, odd, openTools } from './many-spans.ts'
import { scored, similarCalls, unfinishedScores } from './many-spans.ts'
import type { Play } from './many-spans.ts'

/** Milliseconds of processor time that a hook or a turn of the event loop may take; on a slow machine, everything takes longer. */
const limitMs = (): number => Math.max(50, readingMs() / 4)

/** Milliseconds of the clock, for slow machines. */
const timeout = 120_000

/** What an application does, and the same in small, or again, before it: compilation is not measured here. */
interface Shape {
  readonly play: Play
  readonly before?: Play
}

const shapes: Record<string, Shape> = {
  'runs whose tools do not end in time': { play: openTools(6000), before: openTools(500) },
  'spans without an agent, in hundreds of traces': { play: agentlessGroups(900), before: agentlessGroups(100) },
  'model calls below one span without an agent': { play: agentlessCalls(4000) },
  'model calls that resemble one another': { play: similarCalls(1000), before: similarCalls(100) },
  'one message with thousands of tool calls that succeed': { play: manyCalls('r') },
  'one message with thousands of tool calls that fail': { play: manyCalls({ type: 'error-text', value: 'no' }) },
  'overlapping graphs, each span in a trace of its own': { play: graphs(0) },
  'overlapping graphs in ten requests': { play: graphs(10) },
  'overlapping graphs, each in its request': { play: graphs(600) },
  'a shutdown that gives up scores and hands spans on': {
    play: unfinishedScores(4000, 4000),
    before: unfinishedScores(500, 500),
  },
  'a shutdown that gives up scores of spans that were handed on': {
    play: unfinishedScores(9900, 0),
    before: unfinishedScores(500, 0),
  },
  'a shutdown without time': { play: async (turns) => void (await shutDownWithoutTime((what) => turns.begin(what))) },
  'log records of twenty spans': { play: flood(4000, 20), before: flood(400, 4) },
  'log records of five hundred spans': { play: flood(4000, 500), before: flood(400, 4) },
}

function flood(records: number, spans: number): Play {
  return async (turns) => void (await playLogFlood(records, spans, { begin: (what) => turns.begin(what) }))
}

/** Much JSON that is read while the agent's span ends, or later. */
const denseShapes: readonly { readonly shape: DenseShape; readonly redacts: boolean }[] = [
  { shape: 'results', redacts: false },
  { shape: 'results', redacts: true },
  { shape: 'arguments', redacts: true },
  { shape: 'arguments as text', redacts: false },
  { shape: 'calls of one tool', redacts: false },
  { shape: 'messages', redacts: false },
  { shape: 'messages', redacts: true },
  { shape: 'no agent', redacts: false },
]
for (const { shape, redacts } of denseShapes) {
  shapes[`dense JSON in ${shape}${redacts ? ', redacted' : ''}`] = { play: dense(shape, redacts) }
}
for (const [content, make] of Object.entries(oddValues)) {
  for (const place of ['arguments', 'message'] as const) {
    shapes[`one value of many ${content} in the ${place}`] = { play: odd(make(), place) }
  }
}

const endings: readonly (readonly [DenseShape, Ending])[] = [
  ['results', 'shutdown'],
  ['results', 'two shutdowns'],
  ['results', 'flush'],
  ['messages', 'shutdown'],
  ['messages', 'flush, then shutdown'],
  ['no agent', 'flush'],
  ['no agent', 'two flushes'],
  ['no agent', 'shutdown'],
  ['no agent', 'flush, then shutdown'],
  ['calls by themselves', 'flush'],
  ['calls by themselves', 'shutdown'],
]
for (const [shape, ending] of endings) {
  shapes[`${ending} with large runs (${shape})`] = {
    play: async (turns) => void (await endLargeRuns(shape, ending, (what) => turns.begin(what))),
  }
}

/** Its reply is refused, so that nearly all of the time goes into prompts. */
const model = () => createTextModel({ provider: 'test', modelId: 'refused' }, () => ({ text: '{}' }))

const judges: Readonly<Record<string, (context: string) => Scorer>> = {
  prompt_alignment: () => createPromptAlignmentScorerLLM({ model: model() }),
  rubric: () => createRubricScorer({ model: model(), criteria: [{ id: 'a', question: 'Is it good?' }] }),
  faithfulness: (context) => createFaithfulnessScorer({ model: model(), options: { context: [context] } }),
}
const texts: Readonly<Record<string, string>> = {
  'long words': Array.from({ length: 150_000 }, (_, index) => `w${((index * 7919) % 99_991).toString(36)}`).join(' '),
  backticks: '`'.repeat(1_000_000),
  'Chinese text': '今天天气很好我们去公园散步吧'.repeat(70_000),
  'short sentences': 'Ok. No. Yes. '.repeat(80_000),
}
for (const [id, make] of Object.entries(judges)) {
  for (const [what, text] of Object.entries(texts)) {
    const scorer = make(text)
    shapes[`a prompt of ${id} with a megabyte of ${what}`] = {
      play: scored(scorer, text),
      before: scored(scorer, 'A short text.'),
    }
  }
}

beforeAll(warmUp)

test.each(Object.entries(shapes))(
  'no hook and no turn is long: %s',
  { timeout },
  async (_, { play, before = play }) => {
    await longTurns(before)
    // On a busy machine a single turn may take long; work that is not divided takes long every time.
    const found = await longTurns(play)
    expect(found.length === 0 ? found : await longTurns(play)).toEqual([])
  },
)

async function longTurns(play: Play): Promise<readonly string[]> {
  const turns = new LongTurns(limitMs())
  await play(turns)
  return turns.report().own.map(({ text }) => text)
}
