import { certificateTrouble, createProtobufDecoder, USER } from 'spanscore/engine'
import type { SourceLog } from 'spanscore/engine'

import { isOfContent } from './acknowledged-exporter.ts'
import type { AcknowledgedExporter, ExportOutcome } from './acknowledged-exporter.ts'
import { postForStatus } from './post-for-status.ts'
import { encodeRequest } from './gathered-scores.ts'

/** It has no options of its own for certificates. */
const OPTIONS_OF_PHOENIX = {
  ca: 'NODE_EXTRA_CA_CERTS',
  cert: 'a proxy in front of it: this client has no certificate for Phoenix',
}

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
        const body = Buffer.from(JSON.stringify({ data }))
        const status = await postForStatus(`${url.replace(/\/$/, '')}/v1/span_annotations`, body, {
          headers,
          timeoutMs,
        })
        if (status >= 200 && status < 300) return { status: 'acknowledged' }
        // Its answer may quote what was sent, so only the status is reported.
        return { status: isOfContent(status) ? 'refused' : 'failed', message: `Phoenix, HTTP ${status}` }
      } catch (error) {
        const what = `Phoenix: ${error instanceof Error ? error.message : 'no answer'}`
        return { status: 'failed', message: certificateTrouble(error, `--phoenix ${url}`, OPTIONS_OF_PHOENIX) ?? what }
      }
    },
    shutdown: () => Promise.resolve(),
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
