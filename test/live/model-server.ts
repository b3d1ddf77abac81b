import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'

import { listenOnLoopback } from '../../src/testing/listen-on-loopback.ts'
import { toScriptedRequest } from '../../src/testing/openai-request.ts'
import { toWireBody } from '../../src/testing/openai-response.ts'
import type { WireBody } from '../../src/testing/openai-response.ts'
import type { ScriptedReply } from '../../src/testing/scripted-reply.ts'
import { AnthropicThreads, readAnthropicRequest, toAnthropicContent, writeAnthropicReply } from './anthropic-api.ts'
import { readGeminiRequest, writeGeminiReply } from './gemini-api.ts'
import type { Question } from './script.ts'

/** A model that answers from a script, by the APIs of OpenAI, Anthropic and Gemini. */
export interface ModelServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`; OpenAI's API is below `/v1`. */
  readonly origin: string
}

/** Starts a scripted model on loopback. OpenAI's part is the server of `spanscore/testing`. */
export async function createModelServer(answer: Answer): Promise<ModelServer> {
  let index = 0
  const threads = new AnthropicThreads()
  const server = createServer((incoming, outgoing) => {
    readBody(incoming)
      .then((body) => {
        const path = new URL(incoming.url ?? '/', 'http://loopback').pathname
        index += 1
        const { status, contentType, pieces } = reply(path, body, index, answer, threads)
        outgoing.writeHead(status, { 'content-type': contentType })
        for (const piece of pieces) outgoing.write(piece)
        outgoing.end()
      })
      .catch((error: unknown) => outgoing.writeHead(500).end(JSON.stringify({ error: { message: String(error) } })))
  })
  return listenOnLoopback(server, 0)
}

type Body = Readonly<Record<string, unknown>>

type Answer = (question: Question) => ScriptedReply
type Reply = WireBody & { readonly status: number }

function reply(path: string, body: Body, index: number, answer: Answer, threads: AnthropicThreads): Reply {
  if (path.endsWith('/chat/completions') || path.endsWith('/responses')) {
    const request = toScriptedRequest(path.endsWith('/responses') ? 'responses' : 'chat', body, {}, index)
    const scripted = answer(request)
    return { status: scripted.status ?? 200, ...toWireBody(request, scripted) }
  }
  if (path.endsWith('/messages')) return replyAsAnthropic(body, index, answer, threads)
  if (/:(?:streamG|g)enerateContent$/.test(path)) {
    const scripted = answer(readGeminiRequest(body, index))
    return scripted.error === undefined
      ? { status: 200, ...writeGeminiReply(scripted, path.includes(':stream')) }
      : failure(scripted)
  }
  return failure({ status: 404, error: { message: `expected OpenAI's, Anthropic's or Gemini's API, got ${path}` } })
}

function replyAsAnthropic(body: Body, index: number, answer: Answer, threads: AnthropicThreads): Reply {
  const whole = threads.toWhole(body)
  const scripted = answer(readAnthropicRequest(whole, index))
  if (scripted.error !== undefined) return failure(scripted)
  const content = toAnthropicContent(scripted, index)
  threads.keep(whole, `msg_${index}`, content)
  return { status: 200, ...writeAnthropicReply(content, body['stream'] === true, `msg_${index}`) }
}

function failure({ status = 500, error }: ScriptedReply): Reply {
  return { status, contentType: 'application/json', pieces: [JSON.stringify({ type: 'error', error })] }
}

async function readBody(incoming: IncomingMessage): Promise<Body> {
  let text = ''
  for await (const piece of incoming.setEncoding('utf8')) text += String(piece)
  return text === '' ? {} : (JSON.parse(text) as Body)
}
