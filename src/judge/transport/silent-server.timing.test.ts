import { createServer } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

import { expect, it } from 'vitest'

import { createRubricScorer } from '../../scorers/judge/rubric.ts'
import { judgeReply } from '../../testing/judge-reply.ts'
import { listenOnLoopback } from '../../testing/listen-on-loopback.ts'

/** Longer than the 300 s after which the global `fetch` gives up. */
const SILENT_MS = 310_000

it('waits for a server that is silent for 310 s, if timeoutMs allows it', { timeout: 400_000 }, async () => {
  const content = judgeReply({ verdicts: { polite: 'pass' } })
  const server = createServer((_, reply) => {
    void wait(SILENT_MS).then(() =>
      reply.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          id: 'c',
          object: 'chat.completion',
          created: 0,
          model: 'slow',
          choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        }),
      ),
    )
  })
  await using listening = await listenOnLoopback(server, 0)
  const scorer = createRubricScorer({
    model: { id: 'local/slow', url: `${listening.origin}/v1` },
    criteria: [{ id: 'polite', question: 'Is it polite?' }],
  })
  const { score } = await scorer.run({ input: 'Hi', output: 'Hello.' }, { timeoutMs: 380_000 })
  expect(score).toBe(1)
})
