import type { Dialect } from '../../dialect.ts'
import { genAi } from '../gen-ai.ts'
import { openLlmetry } from './openllmetry.ts'

/**
 * Gemini's client through OpenLLMetry. The client may call Python functions itself. One span is then several model calls, of which only the
 * first question and the last answer are recorded.
 */
export const openLlmetryGoogleGenerativeAi: Dialect = {
  ...genAi,
  name: 'openllmetry',

  namespaces: [],
  recognises: (scopeName) => scopeName === 'opentelemetry.instrumentation.google_generativeai',

  // Of a Python function only the name is written, of a declared one also what it takes.
  mayHideCalls: (span) =>
    genAi
      .toolDefinitions?.(span, [])
      ?.some((tool) => tool.parameters === undefined && tool.description === undefined) === true,

  absence: (span, fact, logs) => openLlmetry.absence?.(span, fact, logs),
}
