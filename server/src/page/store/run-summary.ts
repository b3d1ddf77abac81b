import { costUsd, hasFailed, MAX_NAME_LENGTH, priceByName } from 'spanscore/engine'
import type { AgentRun } from 'spanscore/engine'

import { withVisibleMarks } from '../visible-marks.ts'

/** A run's data in the list. */
export interface RunSummary {
  readonly id: string
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | null
  readonly agent: string
  readonly agentVersion: string
  readonly service: string
  readonly userId: string
  readonly model: string
  readonly status: string
  readonly question: string
  readonly answer: string
  readonly startMs: number
  readonly endMs: number
  readonly isComplete: boolean
  readonly toolCalls: number
  readonly failedToolCalls: number
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  /** The cost of its own model calls at list prices, in US dollars; `null` if a price or a token count is unknown. */
  readonly costUsd: number | null
}

/** Maximum characters of a question or an answer in the list. */
const LIST_CHARACTERS = 280

/** Maximum characters of a run that text search covers. */
const SEARCH_CHARACTERS = 16_000

/** Summarises a run for the list. */
export function summarise(run: AgentRun): RunSummary {
  const { toolCalls, usage, error } = run
  return {
    id: run.id,
    traceId: run.traceId,
    spanId: run.spanId,
    parentId: run.parent?.runId ?? null,
    agent: shownName(run.agent.name),
    agentVersion: shownName(run.agent.version) || shownName(run.resource['service.version']),
    service: shownName(run.resource['service.name']),
    userId: shownName(run.userId),
    model: shownName(run.models[0]),
    status: run.status,
    question: withVisibleMarks(cut(run.userInput ?? '', LIST_CHARACTERS)),
    answer: withVisibleMarks(cut(run.output ?? error?.message ?? '', LIST_CHARACTERS)),
    startMs: run.startTimeMs,
    endMs: run.endTimeMs,
    isComplete: run.complete,
    toolCalls: toolCalls.length,
    failedToolCalls: toolCalls.filter(hasFailed).length,
    inputTokens: usage.inputTokens ?? null,
    outputTokens: usage.outputTokens ?? null,
    costUsd: costOf(run),
  }
}

function costOf({ steps }: AgentRun): number | null {
  let sum = 0
  for (const { model, usage } of steps) {
    const cost = model === undefined ? undefined : costUsd(priceByName(model), usage)
    if (cost === undefined) return null
    sum += cost
  }
  return steps.length > 0 ? sum : null
}

/** The searchable text of a run: ids of user and conversation, question, answer, tools with their arguments and results, errors. */
export function searchText(run: AgentRun): string {
  const ids = [shownName(run.userId), shownName(run.conversationId)]
  const parts: string[] = [
    ...ids,
    run.userInput ?? '',
    run.output ?? '',
    run.agent.name ?? '',
    run.error?.message ?? '',
  ]
  for (const call of run.toolCalls) {
    parts.push(call.name, toText(call.arguments), toText(call.result), call.error?.message ?? '')
  }
  return cut(parts.filter((part) => part !== '').join('\n'), SEARCH_CHARACTERS)
}

function toText(value: unknown): string {
  if (value === undefined) return ''
  return cut(typeof value === 'string' ? value : JSON.stringify(value), 2000)
}

/** A name as it is listed: of any value of an attribute, with visible marks, and not too long for an index. */
export function shownName(value: unknown): string {
  return typeof value === 'string' ? withVisibleMarks(cut(value, MAX_NAME_LENGTH)) : ''
}

/** The beginning of a text. */
export function cut(text: string, characters: number): string {
  return text.length > characters ? `${text.slice(0, characters).toWellFormed()}…` : text
}
