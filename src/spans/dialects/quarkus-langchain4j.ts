import type { ContentFact, Dialect, SpanRole } from '../dialect.ts'
import { outcomeWithExceptions } from '../outcome.ts'
import { genAi } from './gen-ai.ts'

const SERVICE = 'langchain4j.aiservices.'
const TOOL = 'langchain4j.tools.'

/** The setting that records each fact. */
const SETTINGS: ReadonlyMap<ContentFact, string> = new Map<ContentFact, string>([
  ['output', 'include-completion'],
  ['toolArguments', 'include-tool-arguments'],
  ['toolResult', 'include-tool-result'],
])

/**
 * LangChain4j in Quarkus (Java): a method of an AI service is the agent, without any attributes. Model and tool calls below it write the
 * GenAI conventions. The prompt is the text of all messages without roles, so question and instructions cannot be separated. A failure is
 * an exception event; the status stays unset.
 */
export const quarkusLangChain4j: Dialect = {
  ...genAi,
  name: 'quarkus-langchain4j',

  namespaces: ['gen_ai.operation.name', 'gen_ai.request.model'],
  names: [SERVICE, TOOL],
  recognises: (scopeName, attributes, spanName) =>
    spanName.startsWith(SERVICE) ||
    spanName.startsWith(TOOL) ||
    (scopeName === 'io.quarkus.opentelemetry' &&
      (attributes['gen_ai.request.model'] ?? attributes['gen_ai.operation.name']) !== undefined),
  withoutScope: { readAs: genAi, isShownBy: ({ name }) => name.startsWith(SERVICE) },

  roleOf(span): SpanRole {
    if (span.name.startsWith(SERVICE)) return 'agent'
    return span.name.startsWith(TOOL) ? 'tool' : genAi.roleOf(span)
  },

  // `langchain4j.aiservices.Assistant.chat`: the interface, then its method.
  agent(span) {
    const name = /^langchain4j\.aiservices\.(.+)\.[^.]+$/.exec(span.name)?.[1]
    return name === undefined ? undefined : { name }
  },

  outcome: outcomeWithExceptions,
  input: () => undefined,
  systemInstructions: () => undefined,

  absence(_span, fact) {
    const setting = SETTINGS.get(fact)
    return setting === undefined
      ? { why: 'not-recorded' }
      : {
          why: 'not-captured',
          switch: `quarkus.langchain4j.tracing.${setting}=true`,
        }
  },
}
