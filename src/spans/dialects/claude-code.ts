import { makeMessage, textMessage } from '../content/messages.ts'
import type { Absence, ContentFact, Dialect, SpanRole } from '../dialect.ts'
import { numberOf, parseJson, textOf } from '../json.ts'
import { toToolCallPart } from '../content/parts.ts'
import { makeUsage, toFinishReasons } from '../semconv.ts'
import type { SourceLog, SourceSpan } from '../source-span.ts'

/**
 * Claude Code's own traces and log records. An interaction is the agent's run. A tool has two spans with the same call id; the inner one,
 * its execution, has the error, and is the agent if the tool starts one. What models say and tools are given is in the log records of the
 * interaction or the execution.
 */
export const claudeCode: Dialect = {
  name: 'claude-code',
  toolSpans: 'sometimes',
  quirks: { logScope: 'com.anthropic.claude_code.events' },

  recognises: (scopeName) => scopeName.startsWith('com.anthropic.claude_code'),
  roleOf: ({ name }) => ROLES.get(name) ?? 'step',

  input(span) {
    const prompt = unlessRedacted(span.attributes['user_prompt'])
    return prompt === undefined ? undefined : [textMessage('user', prompt)]
  },
  output(span, logs) {
    if (span.name === LLM_REQUEST) {
      // Tool calls are not recorded, so an answer with calls would seem to be final.
      const text = isSaid(span.attributes['response.has_tool_call'], false) ? modelOutput(span) : undefined
      return text === undefined ? undefined : [textMessage('assistant', text)]
    }
    const last = logs.findLast((log) => isNamed(log, 'assistant_response') || isNamed(log, 'tool_result'))
    const answer = last && isNamed(last, 'assistant_response') ? unlessRedacted(last.attributes['response']) : undefined
    return answer === undefined ? undefined : [textMessage('assistant', answer)]
  },
  transcript: (span, logs) => (span.name === INTERACTION || span.name === EXECUTION ? transcriptOf(logs) : undefined),

  model({ attributes }) {
    const model = textOf(attributes['gen_ai.response.model']) ?? textOf(attributes['model'])
    const responseId = textOf(attributes['gen_ai.response.id']) ?? textOf(attributes['request_id'])
    const finishReasons = toFinishReasons(attributes['gen_ai.response.finish_reasons'] ?? attributes['stop_reason'])
    return {
      ...(model !== undefined && { model }),
      ...(responseId !== undefined && { responseId }),
      ...(finishReasons !== undefined && { finishReasons }),
    }
  },
  usage({ attributes }) {
    const [read, written] = [attributes['cache_read_tokens'], attributes['cache_creation_tokens']].map(numberOf)
    const uncached = numberOf(attributes['input_tokens'])
    const input = uncached === undefined ? undefined : uncached + (read ?? 0) + (written ?? 0)
    return makeUsage(input, numberOf(attributes['output_tokens']), read, written)
  },

  tool(span) {
    const id = textOf(span.attributes['tool_use_id'])
    const agentName = textOf(span.attributes['subagent_type'])
    const name = textOf(span.attributes['tool_name']) ?? span.name
    return { name, ...(id !== undefined && { id }), ...(agentName !== undefined && { agentName }) }
  },
  toolArguments({ attributes }) {
    const text = isSaid(attributes['tool_input_truncated'], true) ? undefined : textOf(attributes['tool_input'])
    return text === undefined ? undefined : parseJson(text.replace(/^\[TOOL INPUT: [^\]\n]*\]\n/, ''))
  },
  toolResult({ events }) {
    const output = events.find(({ name }) => name === 'tool.output')?.attributes
    const key = output === undefined ? undefined : RESULT_KEYS.find((each) => output[each] !== undefined)
    if (output === undefined || key === undefined || isSaid(output[`${key}_truncated`], true)) return undefined
    return output[key]
  },

  absence(span, fact) {
    return ABSENCES[fact]?.(span)
  },

  ownContentKeys: [
    'user_prompt',
    'new_context',
    'system_prompt_preview',
    'system_reminders',
    'tool_input',
    'full_command',
  ]
    .concat(['response.model_output', 'response.thinking_output', 'file_path', 'bash_command', 'error'])
    .concat(['output', 'content']),
}

const INTERACTION = 'claude_code.interaction'
const LLM_REQUEST = 'claude_code.llm_request'
const EXECUTION = 'claude_code.tool.execution'

const ROLES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  [INTERACTION, 'agent'],
  [LLM_REQUEST, 'model'],
  ['claude_code.tool', 'tool'],
  [EXECUTION, 'entry'],
])

/** Of the event that has a tool's result: commands write the first, files the second. */
const RESULT_KEYS = ['output', 'content']

const PROMPTS: Absence = { why: 'redacted', switch: 'OTEL_LOG_USER_PROMPTS=1 and OTEL_LOGS_EXPORTER=otlp' }
const DETAILS: Absence = { why: 'not-captured', switch: 'OTEL_LOG_TOOL_DETAILS=1 and OTEL_LOGS_EXPORTER=otlp' }
const CONTENT: Absence = { why: 'not-captured', switch: 'OTEL_LOG_TOOL_CONTENT=1' }
const NOT_RECORDED: Absence = { why: 'not-recorded' }

const ABSENCES: Readonly<Partial<Record<ContentFact, (span: SourceSpan) => Absence>>> = {
  input: ({ name }) => (name === INTERACTION ? PROMPTS : NOT_RECORDED),
  output: ({ name }) => (name === LLM_REQUEST ? NOT_RECORDED : PROMPTS),
  toolCalls: () => DETAILS,
  toolArguments: () => DETAILS,
  toolResult: () => CONTENT,
  systemInstructions: () => NOT_RECORDED,
  toolDefinitions: () => NOT_RECORDED,
}

/** Some backends store booleans as text. */
function isSaid(value: unknown, wanted: boolean): boolean {
  return value === wanted || value === String(wanted)
}

function unlessRedacted(value: unknown): string | undefined {
  return value === '<REDACTED>' ? undefined : textOf(value)
}

function modelOutput({ attributes }: SourceSpan): string | undefined {
  return isSaid(attributes['response.model_output_truncated'], true)
    ? undefined
    : textOf(attributes['response.model_output'])
}

function isNamed({ eventName, body }: SourceLog, name: string): boolean {
  return eventName === name || body === `claude_code.${name}`
}

/** The calls of each request, in the order in which the tools began. Requests are logged when they have ended, tools as well. */
function transcriptOf(logs: readonly SourceLog[]): ReturnType<typeof makeMessage>[] | undefined {
  const steps: SourceLog[][] = []
  for (const log of logs) {
    if (isNamed(log, 'api_request')) steps.push([])
    else if (isNamed(log, 'tool_result')) steps.at(-1)?.push(log)
  }
  const messages = steps.map((calls) =>
    makeMessage(
      'assistant',
      calls
        .toSorted((left, right) => beganAtMs(left) - beganAtMs(right))
        .flatMap(({ attributes }) => {
          const { tool_use_id: id, tool_name: name } = attributes
          return toToolCallPart({ id, name, arguments: wholeInput(attributes) }) ?? []
        }),
    ),
  )
  return messages.some(({ parts }) => parts.length > 0) ? messages : undefined
}

function beganAtMs({ timeMs, attributes }: SourceLog): number {
  return timeMs - Number(attributes['duration_ms'] ?? 0)
}

/** Long values are cut in the log record, which has the size of the whole. */
function wholeInput(attributes: Readonly<Record<string, unknown>>): unknown {
  const text = textOf(attributes['tool_input'])
  const isWhole =
    text !== undefined && new TextEncoder().encode(text).length === Number(attributes['tool_input_size_bytes'])
  return isWhole ? parseJson(text) : undefined
}
