import { gzipSync } from 'node:zlib'

import { createOpenAI } from '@ai-sdk/openai'
import { describe, expect, it } from 'vitest'

import type { JudgeModel } from '../../src/judge/transport/judge-model.ts'
import { byId, evaluate, json, serve } from './judge-server.ts'
import type { Answer } from './judge-server.ts'

const asObject = (url: string): JudgeModel => createOpenAI({ baseURL: url, apiKey: 'secret' }).chat('gpt-5-mini')

const MEBIBYTE = 2 ** 20
const body = (message: object, more: object = {}) =>
  JSON.stringify({
    id: 'x',
    object: 'chat.completion',
    created: 0,
    model: 'gpt-5-mini',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 900, completion_tokens: 90 },
    ...more,
  })
const says = (content: string) => json(body({ content }))

/** Writes until the client closes the connection, at most 200 MiB. */
const endless: Answer = (outgoing) => {
  const piece = Buffer.alloc(MEBIBYTE, 'a')
  let left = 200
  const more = (): void => {
    while (left-- > 0 && outgoing.write(piece));
    if (left > 0) outgoing.once('drain', more)
    else outgoing.end()
  }
  outgoing.writeHead(200, { 'content-type': 'application/json' }).on('close', () => (left = 0))
  more()
}

const slow: Answer = (outgoing) => {
  const timer = setInterval(() => outgoing.write(' '), 20)
  outgoing.writeHead(200, { 'content-type': 'application/json' }).on('close', () => clearInterval(timer))
}

const tooLarge = 'judge-invalid-reply'
const repliesById: readonly [what: string, answer: Answer, code: string, requests: number][] = [
  ['a body of 50 MB', says('a'.repeat(50e6)), tooLarge, 1],
  ['a body without end', endless, tooLarge, 1],
  [
    'a small body that decompresses to 256 MiB',
    (outgoing) =>
      outgoing.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb()),
    tooLarge,
    1,
  ],
  [
    'a body of half a million values',
    json(body({}, { choices: Array.from({ length: 500_000 }, () => ({})) })),
    tooLarge,
    1,
  ],
  ['a body with 10,000 levels', json(`{"choices":${'['.repeat(10_000)}${']'.repeat(10_000)}}`), tooLarge, 1],
  ['an error with a body of 50 MB', (outgoing) => outgoing.writeHead(404).end('a'.repeat(50e6)), 'judge-http', 1],
]

let compressed: Buffer | undefined
const bomb = () => (compressed ??= gzipSync(Buffer.alloc(256 * MEBIBYTE, 'a')))

/** Replies that are read with any kind of model. */
const replies: readonly [what: string, answer: Answer, score: object, requests: number][] = [
  ['10,000 levels', says(`${'['.repeat(10_000)}${']'.repeat(10_000)}`), { code: tooLarge }, 2],
  ['100,000 values', says(`[${'0,'.repeat(100_000)}0]`), { code: tooLarge }, 2],
  ['300,000 characters', says(`{"answers":[],"x":"${'a'.repeat(300_000)}"}`), { code: tooLarge }, 2],
  [
    'answers to ids that were not asked about',
    says('{"answers":[{"id":"q000000","verdict":"pass"},{"id":"__proto__","verdict":"pass"}]}'),
    { code: 'judge-unanswered' },
    2,
  ],
  [
    'tool calls',
    json(
      body({
        content: null,
        tool_calls: Array.from({ length: 100 }, (_, index) => ({
          id: `${index}`,
          type: 'function',
          function: { name: 'rm', arguments: '{}' },
        })),
      }),
    ),
    { code: 'judge-unanswered' },
    2,
  ],
  ['no choices', json(body({}, { choices: [] })), { code: 'judge-http' }, 1],
  ['one byte after the other', slow, { code: 'judge-timeout' }, 1],
  ['headers and nothing else', (outgoing) => outgoing.writeHead(200).flushHeaders(), { code: 'judge-timeout' }, 1],
]

describe('a judge whose server replies with', () => {
  it.each(repliesById)('%s, which is not read, is not asked again', async (_, answer, code, requests) => {
    const server = await serve(answer)
    expect(await evaluate(byId(server.url))).toMatchObject({ score: { status: 'failed', code }, judge: { usage: {} } })
    expect(server.requests).toHaveLength(requests)
  })

  it.each(replies)('%s gives no score', async (_, answer, score, requests) => {
    const timeoutMs = JSON.stringify(score).includes('judge-timeout') ? 500 : 60_000
    for (const model of [byId, asObject]) {
      const server = await serve(answer)
      expect(await evaluate(model(server.url), timeoutMs)).toMatchObject({ score, judge: { calls: requests } })
      expect(server.requests).toHaveLength(requests)
    }
  })

  it.each([302, 307, 308])(
    'a redirect (%d) is not followed: another server must not get the prompt',
    async (status) => {
      const other = await serve(says('{}'))
      const server = await serve((outgoing) =>
        outgoing.writeHead(status, { location: `${other.url}/chat/completions` }).end(),
      )
      const { score } = await evaluate(byId(server.url))
      expect(score).toMatchObject({ code: 'judge-http', message: expect.stringContaining(`answered ${status}`) })
      expect([server.requests.length, other.requests.length]).toEqual([1, 0])
    },
  )
})
