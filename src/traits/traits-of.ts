import type { AgentRun, ToolCall } from '../model/agent-run.ts'
import { hasFailed } from '../model/call-status.ts'
import type { RunError } from '../model/message.ts'
import { hashedText } from './hashed-text.ts'
import { isTelling } from './telling-attributes.ts'
import { questionScript, questionWords } from './question-traits.ts'
import type { Trait, TraitKey } from './trait.ts'
import { doublingRange, shortText, withoutNumbers } from './trait-values.ts'

/** What a run's facts do not say of it. */
export interface TraitContext {
  /** Which turn of its conversation the run is, from 1. */
  readonly turn?: number | undefined
  /** The ids of other scorers whose label for the run is `fail`. */
  readonly failing?: Iterable<string> | undefined
  /** The ids of scorers that found an attack in the run, whether it was obeyed or not. */
  readonly attacked?: Iterable<string> | undefined
  /** The scorer whose failing runs are compared. That it found an attack goes along with a failure. */
  readonly scorer?: string | undefined
}

/** A run has at most this many traits. */
export const MAX_TRAITS = 64

/** Maximum number of traits of one key that a run may have, such as tools that it called. */
const MAX_OF_KEY = 8
const MAX_ATTRIBUTES = 24

/**
 * The traits of a run: who wrote it, what the agent was made of, what it was asked, what it did, and how it ended. The same run has the same
 * traits wherever they are read. Ids are no traits, and texts are only those of errors and, where the spans hold the question, its words.
 *
 * @returns at most `MAX_TRAITS`, each once
 */
export function traitsOf(run: AgentRun, context: TraitContext = {}): readonly Trait[] {
  const { turn, failing = [], attacked = [], scorer } = context
  const traits = new Map<string, Trait>()
  const counts = new Map<string, number>()
  const add = (key: string, value: string | number | undefined, most = MAX_OF_KEY): void => {
    const text = value === undefined ? '' : shortText(value)
    const count = counts.get(key) ?? 0
    const id = `${key}\n${text}`
    if (text === '' || count >= most || traits.size >= MAX_TRAITS || traits.has(id)) return
    counts.set(key, count + 1)
    traits.set(id, { key, value: text })
  }
  const addFact = (key: TraitKey, value: string | number | undefined): void => add(key, value)

  add('agent version', run.agent.version)
  for (const attributes of [run.resource, run.attributes, run.surrounding ?? {}]) addAttributes(attributes, add)
  addFact('prompt', hashedText(run.systemInstructions))
  addFact('tools offered', run.availableTools && hashedText(JSON.stringify(run.availableTools)))
  for (const model of run.models) addFact('model', model)
  for (const call of run.toolCalls) addCall(call, addFact)
  addFact('path', run.toolCalls.map(({ name }) => name).join(' > ') || 'no tool')
  addFact('status', run.status)
  addFact('error', errorText(run.error))
  for (const reason of run.steps.at(-1)?.finishReasons ?? []) addFact('finish reason', reason)
  for (const { what } of run.missing) addFact('missing', withoutIndexes(what))
  addFact('steps', doublingRange(run.steps.length))
  addFact('seconds', doublingRange((run.endTimeMs - run.startTimeMs) / 1000))
  addFact('input tokens', run.usage.inputTokens === undefined ? undefined : doublingRange(run.usage.inputTokens))
  addFact('documents found', documentsFound(run))
  addFact('turn', turn === undefined ? undefined : doublingRange(turn))
  const addResult = (key: string, value: 'fail' | 'attacked', isSymptom: boolean): void => {
    const id = `${key}\n${value}`
    if (traits.size < MAX_TRAITS && !traits.has(id)) traits.set(id, { key, value, ...(isSymptom && { isSymptom }) })
  }
  for (const scorerId of failing) addResult(scorerId, 'fail', true)
  for (const scorerId of attacked) addResult(scorerId, 'attacked', scorerId === scorer)
  addFact('question script', questionScript(run.userInput))
  for (const word of questionWords(run.userInput)) add('question word', word, MAX_TRAITS)
  return [...traits.values()]
}

function addAttributes(
  attributes: Readonly<Record<string, unknown>>,
  add: (key: string, value: string | number | undefined) => void,
): void {
  let left = MAX_ATTRIBUTES
  for (const key in attributes) {
    const value = attributes[key]
    if (!isTelling(key, value)) continue
    add(key, String(value))
    left -= 1
    if (left === 0) return
  }
}

function addCall(call: ToolCall, add: (key: TraitKey, value: string) => void): void {
  const { name, error, result } = call
  add('tool called', name)
  if (!hasFailed(call)) return
  add('failed tool', name)
  add('tool error', `${name}: ${errorText(error) ?? (typeof result === 'string' ? withoutNumbers(result) : 'no text')}`)
}

function errorText(error: RunError | undefined): string | undefined {
  if (error === undefined) return undefined
  const { type, message } = error
  return [type, message === undefined ? undefined : withoutNumbers(message)].filter(Boolean).join(': ')
}

/** `toolCalls[2].arguments` is missing from many runs, whatever the index. */
function withoutIndexes(what: string): string {
  return what.replaceAll(/\[\d+\]/g, '[]')
}

function documentsFound({ retrievals }: AgentRun): string | undefined {
  const recorded = retrievals.flatMap(({ kind, documents }) => (kind === 'rerank' ? [] : (documents ?? [])))
  if (retrievals.every(({ documents }) => documents === undefined)) return undefined
  return recorded.length === 0 ? '0' : recorded.length <= 3 ? '1 to 3' : '4 or more'
}
