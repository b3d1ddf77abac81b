import { setTimeout as wait } from 'node:timers/promises'

import { trace } from '@opentelemetry/api'
import { attachScoring, createAnswerPresentScorer, createAnswerRelevancyScorer, createScorer } from 'spanscore'
import { createScriptedJudge } from 'spanscore/testing'

/** How long spans of a run may take to end after its program has got its answer. */
const LIMIT_MS = 5_000

const evaluations = []
let hooks = []
let scoring
let sdk

/** Starts the SDK that the library is used with, and attaches spanscore. To record, only the order of the hooks is noted. */
export async function startTelemetry() {
  const isRecording = process.env.LIVE_RECORD === 'true'
  const module = await import(isRecording ? './sdk-recording.mjs' : `./sdk-${process.env.LIVE_SDK}.mjs`)
  sdk = await module.start()
  if (isRecording) hooks = module.hooks
  else scoring = attachScoring({ scorers: scorers(), onScore: noteEvaluation })
  return trace.getTracerProvider().getDelegate()
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
