import { createProtobufDecoder, USER } from 'spanscore/engine'
import type { SourceLog } from 'spanscore/engine'

import { isOfContent } from './acknowledged-exporter.ts'
import type { AcknowledgedExporter, ExportOutcome } from './acknowledged-exporter.ts'
import { encodeRequest } from './gathered-scores.ts'

/** A Phoenix whose spans get scores as annotations. */
export interface PhoenixDestination {
  /** Its base URL, such as `http://localhost:6006`. */
  readonly url: string
  /** `undefined` if it needs none. */
  readonly apiKey: string | undefined
  readonly timeoutMs: number
}

/**
 * Sends the events of scores to Phoenix, which takes no log records, as annotations of the agent's span. A later revision replaces an
 * annotation. Phoenix keeps annotations for a while whose span has yet to arrive.
 */
export async function createAnnotationExporter(destination: PhoenixDestination): Promise<AcknowledgedExporter> {
  const { url, apiKey, timeoutMs } = destination
  const decode = await createProtobufDecoder()
  const headers = {
    'content-type': 'application/json',
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
  }
  return {
    send: async (records): Promise<ExportOutcome> => {
      const data = decode(encodeRequest(records)).logs.flatMap(toAnnotation)
      if (data.length === 0) return { status: 'acknowledged' }
      try {
        const response = await fetch(`${url.replace(/\/$/, '')}/v1/span_annotations`, {
          method: 'POST',
          headers,
          body: JSON.stringify({ data }),
          signal: AbortSignal.timeout(timeoutMs),
          // Annotations hold content, which must not follow an answer to another host.
          redirect: 'manual',
        })
        await readUpTo(response, MAX_ANSWER_BYTES)
        if (response.ok) return { status: 'acknowledged' }
        // Its answer may quote what was sent, so only the status is reported.
        const message = `Phoenix, HTTP ${response.status}`
        return { status: isOfContent(response.status) ? 'refused' : 'failed', message }
      } catch (error) {
        return { status: 'failed', message: `Phoenix: ${error instanceof Error ? error.message : 'no answer'}` }
      }
    },
    shutdown: () => Promise.resolve(),
  }
}

/** Bytes of an answer that are read, so that its connection can be used again. */
const MAX_ANSWER_BYTES = 64 * 1024

async function readUpTo({ body }: Response, maxBytes: number): Promise<void> {
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    // The rest is not read.
    if (bytes > maxBytes) return
  }
}

const ANNOTATORS = new Map<unknown, string>([
  ['llm_judge', 'LLM'],
  [USER, 'HUMAN'],
])

/** A failed score has nothing that an annotation can hold. */
function toAnnotation({ spanId, attributes }: SourceLog): readonly unknown[] {
  const score = attributes['gen_ai.evaluation.score.value']
  if (score === undefined) return []
  const isFeedback = attributes['gen_ai.evaluation.evaluator.type'] === USER
  const metadata = Object.entries(attributes).filter(([name]) => name.startsWith('spanscore.'))
  return [
    {
      span_id: spanId,
      name: attributes['gen_ai.evaluation.name'],
      annotator_kind: ANNOTATORS.get(attributes['gen_ai.evaluation.evaluator.type']) ?? 'CODE',
      result: {
        score,
        label: attributes['gen_ai.evaluation.score.label'],
        explanation: attributes['gen_ai.evaluation.explanation'],
      },
      metadata: { ...Object.fromEntries(metadata), version: attributes['gen_ai.evaluation.evaluator.version'] },
      // Each user's feedback is an annotation of its own.
      identifier: isFeedback ? attributes['spanscore.score.key'] : 'spanscore',
    },
  ]
}
