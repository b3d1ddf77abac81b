import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'

import { listenOnLoopback } from '../../src/testing/listen-on-loopback.ts'
import { toScriptedRequest } from '../../src/testing/openai-request.ts'
import { toWireBody } from '../../src/testing/openai-response.ts'
import type { WireBody } from '../../src/testing/openai-response.ts'
import type { ScriptedReply } from '../../src/testing/scripted-reply.ts'
import { readAnthropicRequest, writeAnthropicReply } from './anthropic-api.ts'
import { readGeminiRequest, writeGeminiReply } from './gemini-api.ts'
import type { Question } from './script.ts'

/** A model that answers from a script, by the APIs of OpenAI, Anthropic and Gemini. */
export interface ModelServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`; OpenAI's API is below `/v1`. */
  readonly origin: string
}

/** Starts a scripted model on loopback. OpenAI's part is the server of `spanscore/testing`. */
export async function createModelServer(answer: (question: Question) => ScriptedReply): Promise<ModelServer> {
  let index = 0
  const server = createServer((incoming, outgoing) => {
    readBody(incoming)
      .then((body) => {
        const path = new URL(incoming.url ?? '/', 'http://loopback').pathname
        index += 1
        const { status, contentType, pieces } = reply(path, body, index, answer)
        outgoing.writeHead(status, { 'content-type': contentType })
        for (const piece of pieces) outgoing.write(piece)
        outgoing.end()
      })
      .catch((error: unknown) => outgoing.writeHead(500).end(JSON.stringify({ error: { message: String(error) } })))
  })
  return listenOnLoopback(server, 0)
}

type Body = Readonly<Record<string, unknown>>

function reply(
  path: string,
  body: Body,
  index: number,
  answer: (question: Question) => ScriptedReply,
): WireBody & { readonly status: number } {
  if (path.endsWith('/chat/completions') || path.endsWith('/responses')) {
    const request = toScriptedRequest(path.endsWith('/responses') ? 'responses' : 'chat', body, {}, index)
    const scripted = answer(request)
    return { status: scripted.status ?? 200, ...toWireBody(request, scripted) }
  }
  const isGemini = /:(?:streamG|g)enerateContent$/.test(path)
  if (!isGemini && !path.endsWith('/messages')) {
    const message = `expected a path of OpenAI's, Anthropic's or Gemini's API, got ${path}`
    return { status: 404, contentType: 'application/json', pieces: [JSON.stringify({ error: { message } })] }
  }
  const question = isGemini ? readGeminiRequest(body, index) : readAnthropicRequest(body, index)
  const scripted = answer(question)
  const { status = 200, error } = scripted
  if (status >= 400)
    return { status, contentType: 'application/json', pieces: [JSON.stringify({ type: 'error', error })] }
  const written = isGemini
    ? writeGeminiReply(scripted, path.includes(':stream'))
    : writeAnthropicReply(scripted, body['stream'] === true, index)
  return { status, ...written }
}

async function readBody(incoming: IncomingMessage): Promise<Body> {
  let text = ''
  for await (const piece of incoming.setEncoding('utf8')) text += String(piece)
  return text === '' ? {} : (JSON.parse(text) as Body)
}
