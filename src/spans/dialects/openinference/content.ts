import type { RetrievedDocument } from '../../../model/agent-run.ts'
import { makeDocument, MAX_DOCUMENTS } from '../../content/documents.ts'
import { jsonAttribute } from '../../content/json-attribute.ts'
import { isRecord, parseJson, textOf } from '../../json.ts'
import type { Message, ToolDefinition } from '../../../model/message.ts'
import { textMessage, toMessage } from '../../content/messages.ts'
import { fromRolePrefixes } from '../../content/role-prefixes.ts'
import type { SourceSpan } from '../../source-span.ts'
import { toToolDefinitions } from '../../content/tool-definitions.ts'

type Attributes = Readonly<Record<string, unknown>>
type Fields = Record<string, unknown>

/** OpenInference's privacy settings write this in place of a value. */
const REDACTED = '__REDACTED__'

/** An attribute's text; `undefined` if it is absent, empty or hidden. */
export function shownText(value: unknown): string | undefined {
  const text = textOf(value)
  return text === REDACTED ? undefined : text
}

/** An attribute's value, parsed once for all facts; `undefined` if it is absent, empty or hidden. */
export function shownJson(span: SourceSpan, key: string): unknown {
  return shownText(span.attributes[key]) === undefined ? undefined : jsonAttribute(span, key)
}

/** Whether an OpenInference privacy setting hid the value. */
export function isHidden(value: unknown): boolean {
  return value === REDACTED
}

/**
 * Reads messages from OpenInference's flattened attributes: `<prefix>N.message.role`, `….contents.M.message_content.text`,
 * `….tool_calls.K.tool_call.function.name`, …
 */
export function flattenedMessages(attributes: Attributes, prefix: string): readonly Message[] | undefined {
  const messages = new Map<number, FlatMessage>()
  for (const key in attributes) {
    if (!key.startsWith(prefix)) continue
    const match = PATTERN.exec(key.slice(prefix.length))
    if (match !== null) addField(messages, match, shown(attributes[key]))
  }
  const list = sorted(messages).flatMap((message) => toFlatMessage(message) ?? [])
  return list.length === 0 ? undefined : list
}

/** Reads the input of models that only complete text: `llm.prompts.N.prompt.text`, or `llm.prompts` as a list. */
export function flattenedPrompts(attributes: Attributes): readonly Message[] | undefined {
  const prompts = new Map<number, string>()
  for (const key in attributes) {
    const match = key.startsWith('llm.prompts.') ? /^(\d+)\.prompt\.text$/.exec(key.slice(12)) : null
    const text = match === null ? undefined : shownText(attributes[key])
    if (text !== undefined) prompts.set(Number(match?.[1]), text)
  }
  const written = prompts.size === 0 ? parseJson(shown(attributes['llm.prompts'])) : sorted(prompts)
  const texts = (Array.isArray(written) ? written : [written]).filter((text) => typeof text === 'string' && text !== '')
  if (texts.length === 0) return undefined
  return texts.flatMap((text: string) => fromRolePrefixes(text) ?? [textMessage('user', text)])
}

/** Reads `llm.tools.N.tool.json_schema`, each of which is JSON text. */
export function flattenedTools(attributes: Attributes): readonly ToolDefinition[] | undefined {
  const schemas = new Map<number, unknown>()
  for (const key in attributes) {
    if (!key.startsWith('llm.tools.')) continue
    const match = /^(\d+)\.tool\.json_schema$/.exec(key.slice(10))
    if (match !== null) schemas.set(Number(match[1]), wholeTool(attributes, `llm.tools.${match[1]}.tool.`))
  }
  return schemas.size === 0 ? undefined : toToolDefinitions(sorted(schemas))
}

/** Most instrumentations write whole definitions as the schema, some only that of the parameters, with the name beside it. */
function wholeTool(attributes: Attributes, prefix: string): unknown {
  const schema = attributes[`${prefix}json_schema`]
  const name = attributes[`${prefix}name`]
  return name === undefined ? schema : { name, description: attributes[`${prefix}description`], parameters: schema }
}

const PATTERN = /^(\d+)\.message\.(?:(contents|tool_calls)\.(\d+)\.)?(.+)$/

interface FlatMessage {
  readonly fields: Fields
  readonly contents: Map<number, Fields>
  readonly calls: Map<number, Fields>
}

function addField(messages: Map<number, FlatMessage>, match: RegExpExecArray, value: unknown): void {
  const [, index, list, position, field] = match
  if (value === undefined || field === undefined) return
  const message = getOrAdd(messages, Number(index), () => ({ fields: {}, contents: new Map(), calls: new Map() }))
  if (list === undefined) setKnown(message.fields, field, value)
  else {
    const items = list === 'contents' ? message.contents : message.calls
    setKnown(
      getOrAdd(items, Number(position), () => ({})),
      field,
      value,
    )
  }
}

/** Maps an attribute's last part to the field of a message, content part or call. Others are ignored. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ['role', 'role'],
  ['content', 'content'],
  ['name', 'name'],
  ['tool_call_id', 'tool_call_id'],
  ['message_content.type', 'type'],
  ['message_content.text', 'text'],
  ['message_content.image.image.url', 'image'],
  ['tool_call.id', 'id'],
  ['tool_call.function.name', 'callName'],
  ['tool_call.function.arguments', 'arguments'],
  ['function_call_name', 'callName'],
  ['function_call_arguments_json', 'arguments'],
])

function setKnown(fields: Fields, field: string, value: unknown): void {
  const name = FIELDS.get(field)
  if (name !== undefined) fields[name] = value
}

function toFlatMessage(message: FlatMessage): Message | undefined {
  const { role, name, content, tool_call_id, callName, arguments: callArguments } = message.fields
  const calls = sorted(message.calls)
  const contents = sorted(message.contents)
  if (callName !== undefined) calls.push({ callName, arguments: callArguments })
  const ranIds = new Set(contents.map((part) => providerResult(part)?.tool_use_id))
  return toMessage({
    role: textOf(role) ?? 'user',
    name,
    tool_call_id,
    // An answer without content is not an empty answer.
    content: content ?? (contents.length === 0 ? undefined : contents.flatMap((part) => toContent(part) ?? [])),
    // Anthropic's calls are in both lists, so those of the contents only count if the other list is empty.
    tool_calls: (calls.length > 0 ? calls : contents).flatMap((call) => toCall(call, ranIds) ?? []),
  })
}

function toContent(part: Fields): unknown {
  const result = providerResult(part)
  if (result !== undefined) return result
  if (typeof part.text === 'string') return { type: textOf(part.type) ?? 'text', text: part.text }
  return part.image === undefined ? undefined : { type: 'image', image: part.image }
}

/** The result of a tool that Anthropic ran is the JSON text of a content part, with the type of its block. */
function providerResult({ type, text }: Fields): Fields | undefined {
  const isResult = typeof type === 'string' && type !== 'tool_result' && type.endsWith('_tool_result')
  const block = isResult ? parseJson(text) : undefined
  return isRecord(block) ? { ...block, type } : undefined
}

/** The items of OpenAI's Responses API for tools that the provider runs. In place of a name, they have their type. */
const PROVIDER_CALL = /^(?:web_search|file_search|code_interpreter|image_generation|mcp)_call$/

/**
 * A call without a name is left over from empty attributes.
 *
 * @param ranIds the calls whose results are in the same message, because the provider ran them
 */
function toCall(call: Fields, ranIds: ReadonlySet<unknown>): unknown {
  const name = textOf(call.callName)
  if (name === undefined) return undefined
  const isProviders = PROVIDER_CALL.test(name)
  const providerExecuted = isProviders || (call.id !== undefined && ranIds.has(call.id))
  const written = { id: call.id, arguments: call.arguments, providerExecuted }
  return { ...written, name: isProviders ? name.slice(0, -'_call'.length) : name }
}

function shown(value: unknown): unknown {
  if (isHidden(value)) return undefined
  // A list or object is the application's own, of any size: it is copied up to a limit.
  return typeof value === 'object' ? parseJson(value) : value
}

function getOrAdd<T>(map: Map<number, T>, key: number, make: () => T): T {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}

function sorted<T>(map: ReadonlyMap<number, T>): T[] {
  return [...map].toSorted(([left], [right]) => left - right).map(([, value]) => value)
}

/**
 * Reads `retrieval.documents.N.document.content`, `….id`, `….score`, `….metadata`, or what a reranker returned. Hidden texts are absent;
 * `undefined` if there are no documents.
 */
export function flattenedDocuments(attributes: Attributes): readonly RetrievedDocument[] | undefined {
  const documents = new Map<number, Record<string, unknown>>()
  for (const key in attributes) {
    const start = DOCUMENT_PREFIXES.find((prefix) => key.startsWith(prefix))
    const match = start === undefined ? null : DOCUMENT_FIELD.exec(key.slice(start.length))
    if (match === null || isHidden(attributes[key])) continue
    const place = Number(match[1])
    if (place > MAX_DOCUMENTS) continue
    const fields = documents.get(place) ?? {}
    documents.set(place, fields)
    fields[match[2] ?? ''] = attributes[key]
  }
  if (documents.size === 0) return undefined
  return sorted(documents).map(({ id, content, score, metadata }) => makeDocument(id, content, score, metadata) ?? {})
}

const DOCUMENT_PREFIXES = ['retrieval.documents.', 'reranker.output_documents.']
const DOCUMENT_FIELD = /^(\d{1,9})\.document\.(id|content|score|metadata)$/
