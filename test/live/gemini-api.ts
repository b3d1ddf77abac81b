import type { WireBody } from '../../src/testing/openai-response.ts'
import type { ScriptedMessage, ScriptedReply } from '../../src/testing/scripted-reply.ts'
import type { Question } from './script.ts'

interface Part {
  readonly text?: string
  readonly functionResponse?: { readonly name?: string }
}

interface Content {
  readonly role?: string
  readonly parts?: readonly Part[]
}

interface GeminiBody {
  readonly systemInstruction?: Content
  readonly contents?: readonly Content[]
}

/** Reads a request of `generateContent` or `streamGenerateContent`. */
export function readGeminiRequest(body: GeminiBody, index: number): Question {
  const contents = body.contents ?? []
  const lastUser = contents.findLastIndex((content) => content.role !== 'model' && textOf(content) !== '')
  const toolResults = contents
    .slice(lastUser + 1)
    .flatMap(({ parts = [] }) => parts.filter(({ functionResponse }) => functionResponse !== undefined))
    .map((): ScriptedMessage => ({ role: 'tool', text: '', toolCalls: [] }))
  return {
    index,
    system: textOf(body.systemInstruction ?? {}),
    userText: textOf(contents[lastUser] ?? {}),
    toolResults,
  }
}

function textOf({ parts = [] }: Content): string {
  return parts.map(({ text }) => text ?? '').join('')
}

/** Writes a reply as Gemini does: one document, or a stream of them. */
export function writeGeminiReply(reply: ScriptedReply, isStream: boolean): WireBody {
  const calls = (reply.toolCalls ?? []).map(({ name, arguments: args }) => ({ functionCall: { name, args } }))
  const texts = reply.text === undefined ? [] : isStream ? reply.text.split(/(?<= )/) : [reply.text]
  const pieces = calls.length > 0 ? [calls] : texts.map((text) => [{ text }])
  const documents = pieces.map((parts, position) => ({
    candidates: [
      { index: 0, content: { role: 'model', parts }, ...(position === pieces.length - 1 && { finishReason: 'STOP' }) },
    ],
    usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 10, totalTokenCount: 30 },
    modelVersion: 'gemini-2.5-flash',
  }))
  return isStream
    ? {
        contentType: 'text/event-stream',
        pieces: documents.map((document) => `data: ${JSON.stringify(document)}\r\n\r\n`),
      }
    : { contentType: 'application/json', pieces: documents.map((document) => JSON.stringify(document)) }
}
