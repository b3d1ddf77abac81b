import type { AgentRun } from '../model/agent-run.ts'
import { hasFailed } from '../model/call-status.ts'
import type { ToolDefinition } from '../model/message.ts'
import { hashedText } from './hashed-text.ts'
import type { TraitKey } from './trait.ts'
import { shortText } from './trait-values.ts'

/** What an agent is made of, as far as the spans of a run show it: hashes of its prompt and tools, and its models. */
export interface AgentMake {
  readonly prompt?: string
  readonly tools?: string
  readonly model?: string
}

/** What metrics tell of a run. */
export interface CountedTraits {
  readonly make: AgentMake
  /** Names and codes, never a text that a model, a tool or a user wrote. */
  readonly traits: readonly CountedTrait<TraitKey>[]
}

/** One trait, with a text that no other one has: it is made once, and counted for each scorer. */
export type CountedTrait<Key extends string = string> = readonly [key: Key, value: string, id: string]

/** Several scorers count the same run. */
const knownRuns = new WeakMap<AgentRun, CountedTraits>()

/** The traits of a run that metrics count. */
export function countedTraits(run: AgentRun): CountedTraits {
  let counted = knownRuns.get(run)
  if (counted === undefined) {
    const make = makeOf(run)
    counted = { make, traits: traitsOf(run, make) }
    knownRuns.set(run, counted)
  }
  return counted
}

/** @param value short */
export function countedTrait<Key extends string>(key: Key, value: string): CountedTrait<Key> {
  return [key, value, `${key}\n${value}`]
}

function makeOf({ systemInstructions, availableTools, models }: AgentRun): AgentMake {
  const prompt = hashedText(systemInstructions)
  const tools = availableTools && hashedTools(availableTools)
  const [model] = models
  return {
    ...(prompt !== undefined && { prompt }),
    ...(tools !== undefined && { tools }),
    ...(model !== undefined && { model: shortText(model) }),
  }
}

/** Runs that were offered the same text of tools share its reading. */
const knownTools = new WeakMap<readonly ToolDefinition[], string>()

function hashedTools(tools: readonly ToolDefinition[]): string | undefined {
  const known = knownTools.get(tools)
  if (known !== undefined) return known
  const made = hashedText(JSON.stringify(tools))
  if (made !== undefined) knownTools.set(tools, made)
  return made
}

function traitsOf(run: AgentRun, { prompt, tools }: AgentMake): CountedTraits['traits'] {
  const traits = new Map<string, CountedTrait<TraitKey>>()
  const add = (key: TraitKey, value: string | undefined): void => {
    const text = value === undefined ? '' : shortText(value)
    if (text === '') return
    const trait = countedTrait(key, text)
    traits.set(trait[2], trait)
  }
  add('status', run.status)
  add('prompt', prompt)
  add('tools offered', tools)
  for (const model of run.models.slice(0, MAX_OF_KEY)) add('model', model)
  for (const { name, status, error } of run.toolCalls) {
    if (!hasFailed({ status }) || traits.size >= MAX_TRAITS) continue
    add('failed tool', name)
    if (error?.type !== undefined) add('tool error', `${name}: ${error.type}`)
  }
  for (const reason of run.steps.at(-1)?.finishReasons ?? []) add('finish reason', reason)
  return [...traits.values()]
}

const MAX_OF_KEY = 4
const MAX_TRAITS = 16
