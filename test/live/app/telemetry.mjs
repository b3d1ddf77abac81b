import { setTimeout as wait } from 'node:timers/promises'

import { trace } from '@opentelemetry/api'
import { attachScoring, createAnswerPresentScorer, createAnswerRelevancyScorer, createScorer } from 'spanscore'
import { createScriptedJudge } from 'spanscore/testing'

import { hooks, recordHooks } from './hook-recorder.mjs'

/** How long spans of a run may take to end after its program has got its answer. */
const LIMIT_MS = 5_000

const evaluations = []
let scoring
let sdk

/** Starts the SDK that the library is used with, and attaches spanscore unless the spans are only recorded. */
export async function startTelemetry() {
  const module = await import(`./sdk-${process.env.LIVE_SDK}.mjs`)
  sdk = await module.start()
  const provider = trace.getTracerProvider().getDelegate()
  if (process.env.LIVE_RECORD !== 'true') scoring = attachScoring({ scorers: scorers(), onScore: noteEvaluation })
  recordHooks(provider)
  return provider
}

/** One by code, one that is inline but a user's own, one by a judge, which waits until a run has settled. */
function scorers() {
  return [
    createAnswerPresentScorer(),
    createScorer({
      id: 'calls',
      description: 'The number of tool calls.',
      range: [0, 100],
      inline: true,
      version: '1',
    }).generateScore(({ agentRun }) => agentRun.toolCalls.length),
    createAnswerRelevancyScorer({
      model: createScriptedJudge({ lists: { statements: [{ text: 'An answer.', verdict: 'relevant' }] } }),
    }),
  ]
}

function noteEvaluation({ scorer, score, revision }, run) {
  evaluations.push({ scorer: scorer.id, status: score.status, score, revision, run: JSON.parse(JSON.stringify(run)) })
}

/** Waits until every run is closed and every score is given, exports everything, and gives what was scored. */
export async function settle() {
  await (scoring === undefined ? trace.getTracerProvider().getDelegate().forceFlush() : settleScores(scoring))
  return { evaluations: evaluations.splice(0), hooks: hooks.splice(0), ledger: scoring?.ledger() }
}

async function settleScores({ ledger, forceFlush }) {
  const deadline = Date.now() + LIMIT_MS
  while (ledger().runs.open > 0 && Date.now() < deadline) await wait(20)
  await forceFlush()
}

/** Ends the SDK. */
export async function closeTelemetry() {
  await sdk.shutdown()
}
