import { setImmediate as nextTurn } from 'node:timers/promises'

import { TracerProvider } from '@opentelemetry/sdk-trace'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createLoopScorer } from '../../src/scorers/code/loop.ts'
import { createToolErrorsScorer } from '../../src/scorers/code/tool-errors.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { createFakeJudge } from '../../src/testing/fake-judge.ts'
import { denseRun } from './dense-run.ts'
import type { DenseShape } from './dense-run.ts'

export const codeScorers = [createLoopScorer(), createToolErrorsScorer()]
export const judgeScorer = createRubricScorer({
  model: createFakeJudge('lenient'),
  criteria: [{ id: 'good', question: 'Is it good?' }],
})

/** How a processor ends its work while large runs wait to be read. */
export type Ending = 'shutdown' | 'two shutdowns' | 'flush' | 'two flushes' | 'flush, then shutdown'

const ENDINGS: Readonly<Record<Ending, (processor: ScoringSpanProcessor) => Promise<unknown>>> = {
  shutdown: (processor) => processor.shutdown(),
  'two shutdowns': (processor) => Promise.all([processor.shutdown(), processor.stopScoring(), processor.shutdown()]),
  flush: (processor) => processor.forceFlush(),
  'two flushes': (processor) => Promise.all([processor.forceFlush(), processor.forceFlush()]),
  'flush, then shutdown': (processor) => Promise.all([processor.forceFlush(), processor.shutdown()]),
}

/** Loads what a judge needs, so that neither time nor turns are spent on it later. */
export async function warmUp(): Promise<void> {
  for (const scorer of [...codeScorers, judgeScorer]) {
    await scorer.run({ input: 'What is it?', output: 'It is what it is.' }).catch(() => {})
  }
}

/**
 * Plays two large runs, and ends the work in the same turn. `begin` is called before the ending and before each turn that follows;
 * the function that it returns, after it.
 */
export async function endLargeRuns(
  shape: DenseShape,
  ending: Ending,
  begin: (what: string) => () => void = () => () => {},
) {
  const plays = [denseRun(shape), denseRun(shape)]
  const handedOn: ReadableSpan[] = []
  const processor = new ScoringSpanProcessor({
    scorers: [...codeScorers, judgeScorer],
    timeoutMs: 60_000,
    // On a busy machine, reading takes longer than a span is held by default.
    holdMs: 60_000,
    flushTimeoutMs: 60_000,
    shutdownTimeoutMs: 60_000,
    next: {
      onStart: () => {},
      onEnd: (span: ReadableSpan) => handedOn.push(span),
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    },
  })
  const tracer = new TracerProvider({ spanProcessors: [processor] }).getTracer('agents')
  for (const play of plays) play(tracer, (_what, hook) => hook())
  const state = { isOver: false }
  const endCall = begin(ending)
  const over = ENDINGS[ending](processor).then(() => (state.isOver = true))
  endCall()
  while (!state.isOver) {
    const endTurn = begin('a turn')
    await nextTurn()
    endTurn()
  }
  await over
  return { ledger: processor.ledger(), handedOn }
}

/** A processor that is shut down without time while a large run waits to be read. */
export async function shutDownWithoutTime(begin: (what: string) => () => void = () => () => {}) {
  const play = denseRun('results')
  const processor = new ScoringSpanProcessor({ scorers: [...codeScorers, judgeScorer], shutdownTimeoutMs: 0 })
  play(new TracerProvider({ spanProcessors: [processor] }).getTracer('agents'), (_what, hook) => hook())
  const endCall = begin('shutdown')
  const over = processor.shutdown()
  endCall()
  await over
  return processor.ledger()
}
