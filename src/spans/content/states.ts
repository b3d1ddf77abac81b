import { isRecord, parseJson, textOf } from '../json.ts'
import type { Message } from '../../model/message.ts'
import { textMessage, toMessage, toMessages } from './messages.ts'

/** The question and the answer in the state that a graph, workflow or flow was given and returned, whatever its library. */

/** The fields in which libraries and applications keep them, the likeliest first. */
const QUESTIONS = ['messages', 'question', 'query', 'input', 'user_input', 'user_query', 'prompt', 'request', 'task']
const ANSWERS = ['messages', 'answer', 'final_answer', 'output', 'final_output', 'result', 'response', 'reply']

/** A state may hold the state of a part of the graph. */
const MAX_DEPTH = 3

/** The state that a text holds as JSON; `undefined` for any other text. */
export function stateIn(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  const value = text !== undefined && /^\s{0,8}\{/.test(text) ? parseJson(text) : undefined
  return isRecord(value) ? value : undefined
}

/** The question that a state names. */
export function questionIn(state: Readonly<Record<string, unknown>>, depth = 0): readonly Message[] | undefined {
  for (const key of QUESTIONS) {
    const value = state[key]
    const text = typeof value === 'string' ? textOf(value) : undefined
    if (text !== undefined) return [textMessage('user', text)]
    const list = Array.isArray(value) ? toMessages(value) : undefined
    if (list?.some(({ role }) => role === 'user') === true) return list
    const inner = isRecord(value) && depth < MAX_DEPTH ? questionIn(value, depth + 1) : undefined
    if (inner !== undefined) return inner
  }
  return undefined
}

/** The answer that a state names. Of messages, it is the last one, if an agent wrote it. */
export function answerInState(state: Readonly<Record<string, unknown>>, depth = 0): string | undefined {
  for (const key of ANSWERS) {
    const value = state[key]
    if (typeof value === 'string' && value !== '') return value
    const last = Array.isArray(value) ? toMessage(value.at(-1)) : toMessage(value)
    if (last?.role === 'assistant' && last.text !== undefined) return last.text
    const inner = isRecord(value) && depth < MAX_DEPTH ? answerInState(value, depth + 1) : undefined
    if (inner !== undefined) return inner
  }
  return undefined
}

/** All texts of a state, also in lists, up to a bound. */
export function textsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value]
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return []
  return Object.values(value)
    .slice(0, MAX_VALUES)
    .flatMap((item: unknown) => textsIn(item, depth + 1))
}

/** How many values of a state, or of a list in it, are compared with what model calls answered. */
const MAX_VALUES = 50
