import { parsePythonFields } from '../../content/python-literal.ts'
import type { Dialect, SpanOutcome } from '../../dialect.ts'
import { textOf } from '../../json.ts'
import { outcomeOf } from '../../outcome.ts'
import type { SourceSpan } from '../../source-span.ts'
import { openLlmetry } from './openllmetry.ts'

/**
 * Agno for Python through OpenLLMetry. What a tool returned is what Python prints of a record, `status='success' result=… error=None`,
 * and a tool that failed has no other sign of it.
 */
export const openLlmetryAgno: Dialect = {
  ...openLlmetry,

  namespaces: [],
  recognises: (scopeName) => scopeName === 'opentelemetry.instrumentation.agno',

  toolResult(span, logs) {
    const record = recordOf(span)
    if (record === undefined) return openLlmetry.toolResult?.(span, logs)
    return record.status === 'failure' ? undefined : record.result
  },
  outcome(span): SpanOutcome {
    const outcome = outcomeOf(span)
    const record = recordOf(span)
    if (record?.status !== 'failure') return outcome
    const message = textOf(record.error)
    return { status: 'error', error: message === undefined ? {} : { message } }
  },
}

function recordOf(span: SourceSpan): Readonly<Record<string, unknown>> | undefined {
  if (!span.name.endsWith('.tool')) return undefined
  const record = parsePythonFields(textOf(span.attributes['traceloop.entity.output']) ?? '')
  return record !== undefined && 'status' in record && 'result' in record ? record : undefined
}
