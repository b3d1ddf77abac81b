import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { listenOnLoopback } from './listen-on-loopback.ts'
import { toScriptedRequest } from './openai-request.ts'
import { toWireBody } from './openai-response.ts'
import type { Script, ScriptedReply, ScriptedRequest } from './scripted-reply.ts'

/** A running scripted server. Closing it closes all connections, including hanging ones. */
export interface ScriptedOpenAIServer extends AsyncDisposable {
  /** The base URL to configure in a provider: `http://127.0.0.1:<port>/v1`. */
  readonly url: string
  /** Every request so far, in the order of arrival. */
  readonly requests: readonly ScriptedRequest[]
  /** Stops the server and closes all connections. */
  close(): Promise<void>
}

/** Options of `createScriptedOpenAIServer`. */
export interface ScriptedOpenAIServerOptions {
  /** TCP port on the loopback interface. @default one that is free */
  readonly port?: number
}

/**
 * Starts an HTTP server on loopback that speaks OpenAI's chat completions and responses APIs, as JSON and as streams, and
 * answers from a script: texts, tool calls, refusals, usage, and every way in which a provider fails.
 *
 * @param script replies in order (requests after the last one get a 400 error that explains it), or a function of the request
 * @example
 * ```ts
 * import { createOpenAI } from '@ai-sdk/openai'
 * import { generateText } from 'ai'
 * import { createScriptedOpenAIServer } from 'spanscore/testing'
 *
 * const busy = { status: 429, headers: { 'retry-after-ms': '5' } }
 * const server = await createScriptedOpenAIServer([busy, 'Hello.'])
 * const model = createOpenAI({ baseURL: server.url, apiKey: 'scripted' }).chat('gpt-5-mini')
 * console.log((await generateText({ model, prompt: 'Hi' })).text) // Hello., at the second try
 * await server.close()
 * ```
 */
export async function createScriptedOpenAIServer(
  script: Script,
  options: ScriptedOpenAIServerOptions = {},
): Promise<ScriptedOpenAIServer> {
  const requests: ScriptedRequest[] = []
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing, requests, script).catch((error: unknown) => {
      if (outgoing.headersSent) outgoing.destroy()
      else send(outgoing, 500, JSON.stringify({ error: { message: `The script threw: ${String(error)}` } }))
    })
  })
  const { origin, ...listening } = await listenOnLoopback(server, options.port ?? 0)
  return { url: `${origin}/v1`, requests, ...listening }
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  requests: ScriptedRequest[],
  script: Script,
): Promise<void> {
  const path = new URL(incoming.url ?? '/', 'http://loopback').pathname
  const api = path.endsWith('/chat/completions') ? 'chat' : path.endsWith('/responses') ? 'responses' : undefined
  const text = await readBody(incoming)
  if (api === undefined || incoming.method !== 'POST') {
    const message = `expected POST /v1/chat/completions or /v1/responses, got ${incoming.method} ${path}`
    return send(outgoing, 404, JSON.stringify({ error: { message } }))
  }
  const request = toScriptedRequest(api, JSON.parse(text), incoming.headers, requests.length)
  requests.push(request)
  const reply = await replyTo(request, script)
  if (reply.delayMs !== undefined) await delay(reply.delayMs)
  if (reply.fault === 'hang') return
  const body = toWireBody(request, reply)
  outgoing.writeHead(reply.status ?? 200, { 'content-type': body.contentType, ...reply.headers })
  const sent = reply.fault === 'cut' ? body.pieces.slice(0, Math.ceil(body.pieces.length / 2)) : body.pieces
  for (const piece of sent) await write(outgoing, piece)
  if (reply.fault === 'cut') outgoing.destroy()
  else outgoing.end()
}

async function replyTo(request: ScriptedRequest, script: Script): Promise<ScriptedReply> {
  const reply =
    typeof script === 'function'
      ? await script(request)
      : (script[request.index] ?? {
          status: 400,
          error: { message: `The script holds ${script.length} replies, and this is request ${request.index + 1}.` },
        })
  return typeof reply === 'string' ? { text: reply } : reply
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of incoming.setEncoding('utf8')) text += String(piece)
  return text
}

/** Resolves when the piece has been written to the socket, so that a `cut` fault happens after it and does not replace it. */
function write(outgoing: ServerResponse, piece: string): Promise<void> {
  return new Promise((resolve) => {
    outgoing.write(piece, () => resolve())
  })
}

function send(outgoing: ServerResponse, status: number, body: string): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' }).end(body)
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
