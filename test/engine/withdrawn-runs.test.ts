import { createOpenAI } from '@ai-sdk/openai'
import { TraceFlags } from '@opentelemetry/api'
import { expect, it } from 'vitest'

import { resolveOptions } from '../../src/engine/config/options.ts'
import { Engine } from '../../src/engine/engine.ts'
import { Reporter } from '../../src/engine/reporter.ts'
import { toScorable } from '../../src/engine/scorable-run.ts'
import type { Evaluation } from '../../src/model/score.ts'
import { readOtlpJson } from '../../src/otlp/json.ts'
import { buildRuns } from '../../src/runs/build-runs.ts'
import { createToolErrorsScorer } from '../../src/scorers/code/tool-errors.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { judgeReply } from '../../src/testing/judge-reply.ts'
import { createScriptedOpenAIServer } from '../../src/testing/scripted-openai-server.ts'
import { loadLibrary } from '../corpus/load.ts'

const RUN = buildRuns(readOtlpJson(loadLibrary('ai-6.0.326')[0]?.traces)?.spans ?? [])[0]!

/** An engine that asks one judge at a time, whose first answer waits until the test opens the door, and the scores of runs. */
async function setUp() {
  const door = Promise.withResolvers<void>()
  const server = await createScriptedOpenAIServer(async () => {
    if (server.requests.length === 1) await door.promise
    return { text: judgeReply({ verdicts: { polite: 'pass' } }) }
  })
  const model = createOpenAI({ baseURL: server.url, apiKey: 'scripted' }).chat('gpt-5-mini')
  const criteria = [{ id: 'polite', question: 'Is the answer polite?' }]
  const scorers = [createRubricScorer({ model, criteria }), createToolErrorsScorer()]
  const engine = new Engine({
    options: resolveOptions({ scorers, concurrency: 1, budget: { callsPerMinute: 10 } }),
    reporter: new Reporter(),
    onLeftOut: () => undefined,
  })
  const evaluations: Evaluation[] = []
  const offer = () => {
    const target = {
      spanContext: { traceId: RUN.traceId, spanId: RUN.spanId, traceFlags: TraceFlags.SAMPLED },
      isHeld: false,
      claim: () => true,
      write: (evaluation: Evaluation) => void evaluations.push(evaluation),
      allIn: () => undefined,
    }
    return engine.settle(toScorable(RUN, false, true), true, () => target)!
  }
  const judged = () => evaluations.filter(({ scorer }) => scorer.id === 'rubric')
  const counts = () => engine.ledger.snapshot(0).scorers['rubric']
  const [first, second] = [offer(), offer()]
  await expect.poll(() => server.requests.length).toBe(1)
  await expect.poll(() => second.tasks.map(({ state }) => state)).toEqual(['admitted'])
  return { engine, server, door, first, second, judged, counts, [Symbol.asyncDispose]: () => server.close() }
}

it('a run that another process scores from now on is not asked about, written or counted', async () => {
  await using all = await setUp()
  const { engine, server, door, first, second, judged, counts } = all
  expect(counts()).toMatchObject({ offered: 2, pending: 2 })
  engine.tasks.withdraw(first)
  engine.tasks.withdraw(second)
  await Promise.all([first.whenAllIn(), second.whenAllIn()])
  door.resolve()
  expect([first.isWithdrawn, second.isWithdrawn]).toEqual([true, true])
  expect(counts()).toMatchObject({ offered: 0, scored: 0, skipped: 0, failed: 0, pending: 0 })
  // What the judge was asked about stays booked, and what it was not asked about is free again.
  expect(engine.budget.usedRatio()).toBeCloseTo(0.1)
  // The next run gets its turn.
  const third = engine.settle(toScorable(RUN, false, true), true, () => first.target)!
  await third.whenAllIn()
  expect(third.isWithdrawn).toBe(false)
  expect(judged()).toMatchObject([{ score: { status: 'scored' } }])
  expect(server.requests).toHaveLength(2)
})

it('judges that are asked may finish, while runs that wait for their turn are left to another process', async () => {
  await using all = await setUp()
  const { engine, server, door, first, second, judged, counts } = all
  engine.tasks.withdrawUnasked()
  await second.whenAllIn()
  door.resolve()
  await first.whenAllIn()
  expect([first.isWithdrawn, second.isWithdrawn]).toEqual([false, true])
  expect(judged()).toMatchObject([{ score: { status: 'scored' } }])
  expect(counts()).toMatchObject({ offered: 1, scored: 1, pending: 0 })
  expect(server.requests).toHaveLength(1)
})
