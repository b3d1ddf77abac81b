import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { afterEach } from 'vitest'

import type { Evaluation } from '../../src/model/score.ts'
import type { JudgeModel } from '../../src/judge/transport/judge-model.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { listenOnLoopback } from '../../src/testing/listen-on-loopback.ts'

/** How a server answers a request. */
export type Answer = (outgoing: ServerResponse, incoming: IncomingMessage) => void

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

let served = 0

/** A server that answers every request in the same way. */
export async function serve(answer: Answer): Promise<{ url: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = []
  const server = createServer((incoming, outgoing) => {
    requests.push(incoming)
    incoming.resume().on('end', () => answer(outgoing, incoming))
  })
  const { origin, ...listening } = await listenOnLoopback(server, 0)
  closing.push(() => listening.close())
  served += 1
  // A port may be used again, and the judge remembers which servers failed.
  return { url: `${origin}/${served}/v1`, requests }
}

/** The evaluation of one answer by a judge with such a model. */
export async function evaluate(model: JudgeModel, timeoutMs = 60_000): Promise<Evaluation> {
  const scorer = createRubricScorer({ model, criteria: [{ id: 'polite', question: 'Is it polite?' }] })
  return scorer.run({ input: 'Hi', output: 'Hello, how can I help you today?' }, { timeoutMs }).then(
    ({ evaluation }) => evaluation,
    (error: { evaluation: Evaluation }) => error.evaluation,
  )
}

/** A model that is named by its id. */
export const byId = (url: string): JudgeModel => ({
  id: 'openai/gpt-5-mini',
  url,
  apiKey: 'secret',
  headers: { 'x-team': 'red' },
})

/** Answers with a body of JSON. */
export const json =
  (text: string, headers: Record<string, string> = {}): Answer =>
  (outgoing) =>
    outgoing.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text)
