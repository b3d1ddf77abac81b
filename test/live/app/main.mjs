/**
 * Runs the scenarios that it is sent, one after another, in an application that uses one library: `node main.mjs <program>`.
 * A program is a module of this folder with a function `answer(run, options)`.
 */
import { SpanKind, trace } from '@opentelemetry/api'

import { closeTelemetry, settle, startTelemetry } from './telemetry.mjs'
import { done } from './tools.mjs'

const provider = await startTelemetry()
const program = await import(`./${process.argv[2]}.mjs`)
await program.instrument?.(provider)

const tracer = trace.getTracer('http-server')

/** One request to an HTTP server, whose span is above the agent's. */
function serve(run, options) {
  return tracer.startActiveSpan('POST /chat', { kind: SpanKind.SERVER }, async (span) => {
    try {
      return await program.answer(run, options)
    } finally {
      span.end()
    }
  })
}

async function play({ runs, stream }) {
  if (runs.length === 1) return [await program.answer(runs[0], { stream })]
  return Promise.all(runs.map((run) => serve(run, { stream })))
}

process.on('message', async (scenario) => {
  if (scenario === 'end') {
    await closeTelemetry()
    process.exit(0)
  }
  let outcome
  try {
    outcome = { answers: await play(scenario) }
  } catch (error) {
    outcome = { answers: [], threw: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
  await program.flush?.()
  process.send({ ...outcome, done: done.splice(0), ...(await settle()) })
})
process.send('ready')
