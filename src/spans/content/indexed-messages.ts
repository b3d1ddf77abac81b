import { isRecord } from '../json.ts'
import type { Message } from '../../model/message.ts'
import { toMessage } from './messages.ts'

/**
 * Reads messages from indexed attributes: `<prefix>N.role`, `<prefix>N.content`, `<prefix>N.tool_calls.M.name`, and flattened blocks,
 * `<prefix>N.content.M.text`. Indices may start at any number and be in any order.
 *
 * @param role the role of messages without one
 */
export function fromIndexed(
  attributes: Readonly<Record<string, unknown>>,
  prefix: string,
  role: string,
): Message[] | undefined {
  const messages: Tree = new Map()
  for (const key in attributes) {
    if (!key.startsWith(prefix)) continue
    const path = key.slice(prefix.length).split('.', MAX_DEPTH + 1)
    if (path.length <= 1 || path.length > MAX_DEPTH || !INDEX.test(path[0] ?? '')) continue
    if (FIELDS.has(path[1] ?? '')) setAt(messages, path, attributes[key])
  }
  if (messages.size === 0) return undefined
  return byIndex(messages).flatMap((tree) => {
    const message = toValue(tree)
    return isRecord(message) ? (toMessage({ role, ...withContent(message) }) ?? []) : []
  })
}

/** Rebuilds a value whose members were written as separate attributes, `<prefix>a.b.0`; `undefined` if there are none. */
export function fromFlattened(attributes: Readonly<Record<string, unknown>>, prefix: string): unknown {
  const tree: Tree = new Map()
  for (const key in attributes) {
    if (!key.startsWith(prefix)) continue
    const path = key.slice(prefix.length).split('.', MAX_DEPTH + 1)
    if (path.length <= MAX_DEPTH) setAt(tree, path, attributes[key])
  }
  return tree.size === 0 ? undefined : toValue(tree)
}

/** Deeper paths are ignored, to bound the work. */
const MAX_DEPTH = 12
const INDEX = /^\d{1,6}$/

/** The fields of an indexed message. All others, including `__proto__`, are ignored. */
const FIELDS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'name',
  'id',
  'arguments',
  'tool_call_id',
  'tool_calls',
  'function_call',
  'text',
  'toolUse',
  'toolResult',
])

type Tree = Map<string, unknown>

function setAt(tree: Tree, path: readonly string[], value: unknown): void {
  let at = tree
  for (const [depth, step] of path.entries()) {
    if (depth === path.length - 1) {
      if (!at.has(step)) at.set(step, value)
      return
    }
    const next = at.get(step)
    // If both a value and something below it exist, the first one is kept.
    if (next !== undefined && !(next instanceof Map)) return
    const inner: Tree = next ?? new Map<string, unknown>()
    if (next === undefined) at.set(step, inner)
    at = inner
  }
}

function toValue(tree: unknown): unknown {
  if (!(tree instanceof Map)) return tree
  const entries = tree as Tree
  if ([...entries.keys()].every((key) => INDEX.test(key))) return byIndex(entries).map(toValue)
  return Object.fromEntries(
    [...entries].filter(([key]) => key !== '__proto__').map(([key, value]) => [key, toValue(value)]),
  )
}

function byIndex(tree: Tree): readonly unknown[] {
  return [...tree].toSorted(([left], [right]) => Number(left) - Number(right)).map(([, value]) => value)
}

/** A single block instead of a message is its content, and a single call instead of a list is a list of one. */
function withContent(message: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { function_call: call, ...others } = message
  if (isRecord(call)) return withContent({ ...others, tool_calls: [{ type: 'function', function: call }] })
  const { text, toolUse, toolResult, ...rest } = message
  const block = [text === undefined ? undefined : { text }, toolUse && { toolUse }, toolResult && { toolResult }]
  const blocks = block.filter((item) => item !== undefined)
  return blocks.length === 0 || rest.content !== undefined ? message : { ...rest, content: blocks }
}
