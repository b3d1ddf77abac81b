import { TraceFlags } from '@opentelemetry/api'
import { describe, expect, it } from 'vitest'

import type { Evaluation } from '../../src/model/score.ts'
import { resolveOptions } from '../../src/engine/config/options.ts'
import { Engine } from '../../src/engine/engine.ts'
import { HandedRuns } from '../../src/engine/handed-runs.ts'
import type { ScorePlace } from '../../src/engine/place.ts'
import { Reporter } from '../../src/engine/reporter.ts'
import { toScorable } from '../../src/engine/scorable-run.ts'
import type { HandedRun } from '../../src/engine/place.ts'
import type { ScoringOptions } from '../../src/engine/config/scoring-options.ts'
import { buildRuns } from '../../src/runs/build-runs.ts'
import { readOtlpJson } from '../../src/otlp/json.ts'
import { SamplePoint } from '../../src/sampling/sample-point.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { createToolErrorsScorer } from '../../src/scorers/code/tool-errors.ts'
import { skipped } from '../../src/scoring/unscored.ts'
import { createScriptedOpenAIServer } from '../../src/testing/scripted-openai-server.ts'
import { judgeReply } from '../../src/testing/judge-reply.ts'
import { loadLibrary } from '../corpus/load.ts'
import { createOpenAI } from '@ai-sdk/openai'

const RUN = buildRuns(readOtlpJson(loadLibrary('ai-6.0.326')[0]?.traces)?.spans ?? [])[0]!

const target = { traceId: RUN.traceId, spanId: RUN.spanId, traceFlags: TraceFlags.SAMPLED }

function rubric(model: Parameters<typeof createRubricScorer>[0]['model'] = 'openai/gpt-5-mini') {
  return createRubricScorer({ model, criteria: [{ id: 'polite', question: 'Is the answer polite?' }] })
}

/** Passes a run to the scorers of a process that asks no judges. */
async function offer(options: Partial<ScoringOptions>, handOver: ScorePlace['handOver']) {
  const evaluations: Evaluation[] = []
  const engine = new Engine({
    options: resolveOptions({ scorers: [rubric(), createToolErrorsScorer()], ...options }),
    reporter: new Reporter(),
    onLeftOut: () => undefined,
  })
  const run = toScorable(RUN, false, engine.isWanted(RUN.traceId))
  const place: ScorePlace = {
    target,
    isHeld: false,
    claim: () => true,
    write: (evaluation) => void evaluations.push(evaluation),
    allIn: () => undefined,
    handOver,
  }
  await engine.settle(run, true, () => place)?.whenAllIn()
  return { evaluations, ledger: engine.ledger.snapshot(0) }
}

describe('a run whose judge is asked in another process', () => {
  it('is handed over after redact, with the rate only, and is counted in the other process', async () => {
    const handed: HandedRun[] = []
    const { evaluations, ledger } = await offer(
      {
        redact: (run) => ({ ...run, output: '[redacted]' }),
        upstreamProbability: 0.5,
        sampleSalt: 'salt',
        // The other process applies its own budget: with this one no judge would be asked here.
        budget: { callsPerMinute: 0 },
      },
      async (each) => {
        handed.push(each)
        return undefined
      },
    )
    expect(handed).toMatchObject([
      { scorer: { id: 'rubric', kind: 'judge' }, rate: 1, upstreamProbability: 0.5, run: { output: '[redacted]' } },
    ])
    // The position of the trace depends on the salt, which the process that asks need not know.
    expect(handed[0]?.point).toBe(new SamplePoint(RUN.traceId, 'salt').value)
    expect(evaluations.map(({ scorer }) => scorer.id)).toEqual(['tool_errors'])
    expect(ledger.scorers).toMatchObject({ rubric: { runs: 0, pending: 0 }, tool_errors: { runs: 1 } })
  })

  it('is skipped with the reason why it cannot be handed over, and fails if it cannot be redacted', async () => {
    const refused = await offer({}, () => Promise.resolve(skipped('refused', 'Too large.')))
    expect(refused.evaluations).toContainEqual(
      expect.objectContaining({ probability: 1, score: expect.objectContaining({ reason: 'refused' }) }),
    )
    expect(refused.ledger.scorers['rubric']).toMatchObject({ runs: 1, skipped: 1, pending: 0 })
    const unredacted = await offer(
      {
        redact: () => {
          throw new Error('no')
        },
      },
      () => Promise.reject(new Error('Handed over what could not be redacted.')),
    )
    expect(unredacted.ledger.scorers['rubric']).toMatchObject({ failed: 1, reasons: { 'redact-failed': 1 } })
  })

  it('is not handed over if the rate leaves it out', async () => {
    const { ledger } = await offer({ sample: 0 }, () => Promise.reject(new Error('Handed over what is left out.')))
    expect(ledger.scorers['rubric']).toMatchObject({ runs: 1, skipped: 1, reasons: { 'sampled-out': 1 } })
  })
})

const polite = () => judgeReply({ verdicts: { polite: 'pass' } })

describe('a run that was handed over', () => {
  const run: HandedRun['run'] = JSON.parse(JSON.stringify(RUN))

  async function setUp(
    replies: Parameters<typeof createScriptedOpenAIServer>[0],
    options: Partial<ScoringOptions> = {},
  ) {
    const server = await createScriptedOpenAIServer(replies)
    const scorer = rubric(createOpenAI({ baseURL: server.url, apiKey: 'scripted' }).chat('gpt-5-mini'))
    const runs = new HandedRuns({ scorers: [scorer], ...options })
    const handed = { run, scorer: runs.scorers[0]!, rate: 0.8, point: 0.3, upstreamProbability: 0.5 }
    const question = runs.question(handed, target)
    return { server, runs, handed, question, [Symbol.asyncDispose]: () => server.close() }
  }

  it('is scored with its rate lowered by the budget, and the budget keeps what was spent', async () => {
    await using all = await setUp(polite)
    const { server, runs, question } = all
    const budget = runs.createBudget(1, () => 1000, undefined)
    expect(question.admit(budget)).toBeUndefined()
    const { evaluation, isLeft } = await question.ask()
    expect(evaluation).toMatchObject({
      score: { status: 'scored' },
      probability: 0.8,
      upstreamProbability: 0.5,
      judge: { calls: server.requests.length },
    })
    expect(isLeft).toBe(false)
    runs.settled(evaluation)
    expect(runs.ledger().scorers['rubric']).toMatchObject({ runs: 1, scored: 1 })
    const resumed = runs.createBudget(1, () => 1000, JSON.parse(JSON.stringify(budget.history())))
    expect(resumed.usedRatio()).toBeCloseTo(server.requests.length / 60)
  })

  it('is refused without a call if its share of the budget has no room', async () => {
    await using all = await setUp(polite, { budget: { usdPerDay: 0.0000001 } })
    const { server, runs, question } = all
    expect(question.admit(runs.createBudget(0.5, () => 1000, undefined))).toMatchObject({
      probability: 0.8,
      score: { status: 'skipped', reason: 'refused' },
    })
    expect(server.requests).toHaveLength(0)
  })

  it('is postponed if the provider is overloaded, with the same probability', async () => {
    const busy = { status: 429, headers: { 'retry-after': '120' } }
    let isBusy = true
    await using all = await setUp(() => (isBusy ? busy : polite()))
    const { server, runs, question } = all
    const budget = runs.createBudget(1, () => 1000, undefined)
    expect(question.admit(budget)).toBeUndefined()
    expect(await question.ask()).toMatchObject({ isLeft: true, evaluation: { score: { code: 'judge-quota' } } })
    isBusy = false
    expect(question.admit(budget)).toBeUndefined()
    // The pace of the endpoint still requires a wait that is longer than one score may take.
    expect(await question.ask()).toMatchObject({ isLeft: true, evaluation: { score: { reason: 'circuit-open' } } })
    expect(server.requests).toHaveLength(1)
  })

  it('is given up if another process now asks', async () => {
    await using all = await setUp([{ fault: 'hang' }])
    const { runs, question } = all
    question.admit(runs.createBudget(1, () => 1000, undefined))
    const answer = question.ask()
    question.abandon()
    expect(await answer).toMatchObject({ evaluation: { score: { reason: 'shutdown' } } })
  })

  it('needs an available judge of the version for which the run was chosen', async () => {
    expect(() => new HandedRuns({ scorers: [rubric('openai/gpt-5-mini')] })).toThrow(
      /^rubric: expected a judge that can be asked, got none\. .*OPENAI_API_KEY/,
    )
    await using all = await setUp([])
    const { runs, handed } = all
    expect(runs.find(handed.scorer)).toBe('known')
    expect(runs.find({ id: 'rubric', version: 'other' })).toBe('unknown-version')
    expect(runs.find({ id: 'other', version: '1' })).toBe('unknown-scorer')
    const evaluation = runs.unasked(handed, target, skipped('judge-unavailable', 'Not here.'))
    expect(evaluation).toMatchObject({ probability: 0.8, score: { reason: 'judge-unavailable' } })
  })
})
