import { withFunctionResults } from '../../content/gemini.ts'
import type { Dialect, SpanRole } from '../../dialect.ts'
import { isFormat, mlflow } from './mlflow.ts'

/**
 * Gemini's client through MLflow's autologging. The client may call Python functions itself: its public method is then around several calls
 * of the private one, each of which is one model call.
 */
export const mlflowGemini: Dialect = {
  ...mlflow,

  recognises: (_, attributes) => isFormat(attributes, 'gemini'),
  roleOf: (span): SpanRole =>
    /^(?:Async)?(?:Models\.generate_content|Chat\.send_message)(?:_stream)?$/.test(span.name)
      ? 'entry'
      : mlflow.roleOf(span),
  agent: () => undefined,

  input: (span, logs) => mlflow.input?.(span, logs)?.map(withFunctionResults),
}
