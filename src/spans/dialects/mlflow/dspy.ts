import type { Dialect } from '../../dialect.ts'
import { mlflow, TYPE, typeOf } from './mlflow.ts'

/** DSPy through MLflow's autologging. Spans are named after the methods of modules, which take and return objects with named fields. */
export const mlflowDspy: Dialect = {
  ...mlflow,

  recognises: (_, attributes, spanName) =>
    attributes[TYPE] !== undefined && /^(?:Tool\.\w|LM\.|\w+\.forward$)/.test(spanName),

  hasFinalForm: (span) => typeOf(span) !== 'LLM' && typeOf(span) !== 'CHAT_MODEL',

  tool: (span) => ({ name: span.name.slice('Tool.'.length) }),
}
