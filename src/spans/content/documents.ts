import type { RetrievedDocument } from '../../model/agent-run.ts'
import type { RetrievalRequest } from '../dialect.ts'
import { isRecord, parseJson, textOf, toJsonText } from '../json.ts'

type Fields = Readonly<Record<string, unknown>>

/** Documents that a run has of one retrieval. One more is read, so that it shows that there were more. */
export const MAX_DOCUMENTS = 200

/** A list in a list, or in an object, and no deeper. */
const MAX_DEPTH = 3

/**
 * Documents as libraries write them: a list, or an object that holds one (`{ documents, count }`, `{ results }`). The documents may be
 *
 * - LangChain's (`page_content`, `pageContent`), plain or serialized (`{ lc, kwargs }`), also in a pair with the score;
 * - nodes of LlamaIndex (`{ node: { id_, text }, score }`), of which OpenLLMetry writes each as JSON text;
 * - results of vector stores, whose text may be in the metadata, payload or properties;
 * - results of Amazon Bedrock (`{ content: { text }, location, score }`) and of OpenAI's file search (`{ file_id, text, score }`);
 * - plain texts.
 *
 * `undefined` if it is no such list.
 */
export function toDocuments(value: unknown, depth = 0): readonly RetrievedDocument[] | undefined {
  const parsed = typeof value === 'string' ? parseJson(value) : value
  if (isRecord(parsed) && depth < MAX_DEPTH) {
    for (const key of LIST_KEYS) {
      const list = parsed[key]
      if (Array.isArray(list)) return toDocuments(list, depth + 1)
    }
    return undefined
  }
  if (!Array.isArray(parsed)) return undefined
  const list: readonly unknown[] = parsed.slice(0, MAX_DOCUMENTS + 1)
  // A list for each of several queries, of which there was one.
  const [only] = list
  if (list.length === 1 && Array.isArray(only) && typeof only[1] !== 'number' && depth < MAX_DEPTH) {
    return toDocuments(only, depth + 1)
  }
  const documents = list.map(toDocument)
  const isKnown = documents.length === 0 || documents.some((each) => each !== undefined)
  return isKnown ? documents.map((each) => each ?? {}) : undefined
}

const LIST_KEYS = ['documents', 'docs', 'results', 'retrievalResults', 'nodes', 'matches', 'records', 'points'].concat([
  'sources',
  'output',
  'outputs',
])

function toDocument(value: unknown): RetrievedDocument | undefined {
  if (typeof value === 'string') {
    const parsed = value.startsWith('{') ? parseJson(value) : value
    if (isRecord(parsed)) return toDocument(parsed)
    // How Python prints an object shows neither its text nor its fields reliably.
    return isPrintedObject(value) ? undefined : { content: value }
  }
  if (Array.isArray(value)) {
    const [inner, score] = value as readonly unknown[]
    const document = isRecord(inner) ? toDocument(inner) : undefined
    return document && { ...document, ...scoreOf(score) }
  }
  if (!isRecord(value)) return undefined
  const node = value.node ?? value.document ?? (value.lc === undefined ? undefined : value.kwargs)
  if (isRecord(node)) {
    const document = toDocument(node)
    return document && { ...document, ...scoreOf(value.score) }
  }
  return makeDocument(idOf(value), contentIn(value), value.score ?? value.relevance_score, metadataIn(value))
}

/** A document with the given fields that are present; `undefined` if it has neither id nor text. */
export function makeDocument(
  id: unknown,
  content: unknown,
  score?: unknown,
  metadata?: unknown,
): RetrievedDocument | undefined {
  const document: { -readonly [Key in keyof RetrievedDocument]: RetrievedDocument[Key] } = {}
  if (typeof id === 'number' || (typeof id === 'string' && id !== '')) document.id = String(id)
  const text = toText(content)
  if (text !== undefined) document.content = text
  Object.assign(document, scoreOf(score))
  const more = typeof metadata === 'string' ? parseJson(metadata) : metadata
  if (isRecord(more) && Object.keys(more).length > 0) document.metadata = more
  return document.id === undefined && document.content === undefined ? undefined : document
}

function scoreOf(value: unknown): Pick<RetrievedDocument, 'score'> {
  return typeof value === 'number' && Number.isFinite(value) ? { score: value } : {}
}

const ID_KEYS = ['id', 'id_', '_id', 'document_id', 'documentId', 'doc_id', 'file_id', 'fileId', 'uuid']

function idOf(value: Fields): unknown {
  for (const key of ID_KEYS) if (typeof value[key] === 'string' || typeof value[key] === 'number') return value[key]
  // Amazon Bedrock's documents only have an address.
  const { location } = value
  if (!isRecord(location)) return undefined
  return Object.values(location)
    .flatMap((place) => (isRecord(place) ? [textOf(place.uri) ?? textOf(place.url)] : []))
    .find((address) => address !== undefined)
}

const CONTENT_KEYS = ['page_content', 'pageContent', 'content', 'text', 'document', 'chunk']
/** What an index has about a document besides its id and vector. */
const METADATA_KEYS = ['metadata', 'meta', 'payload', 'properties', 'attributes']

function contentIn(value: Fields): unknown {
  const own = firstText(value)
  if (own !== undefined) return own
  const metadata = metadataIn(value)
  const inside = typeof metadata === 'string' ? parseJson(metadata) : metadata
  return isRecord(inside) ? firstText(inside) : undefined
}

function firstText(value: Fields): string | undefined {
  for (const key of CONTENT_KEYS) {
    const text = toText(value[key])
    if (text !== undefined) return text
  }
  return undefined
}

function metadataIn(value: Fields): unknown {
  for (const key of METADATA_KEYS) if (value[key] !== undefined && value[key] !== null) return value[key]
  return undefined
}

/** The text of a document: as it is, in an object, or in a list of parts. */
function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (isRecord(value)) return typeof value.text === 'string' ? value.text : toJsonText(value)
  if (!Array.isArray(value)) return undefined
  const texts = value
    .map((part: unknown) => (isRecord(part) ? part.text : part))
    .filter((text) => typeof text === 'string')
  return texts.length === 0 ? undefined : texts.join('\n')
}

function isPrintedObject(text: string): boolean {
  return /^<?\w{1,100}\(\w{1,100}=/.test(text)
}

const QUERY_KEYS = ['query', 'query_str', 'queryText', 'query_text', 'question', 'search_query', 'queryString'].concat([
  'query_bundle',
  'str_or_query_bundle',
  'kwargs',
  'input',
  'content',
  'text',
])

/** Genkit's query is a document: `{ query: { content: [{ text }] } }`. */
const MAX_QUERY_DEPTH = 4

/** What was searched for, in the input of a retriever: a text, or an object that has one under a usual name or as its only value. */
export function queryIn(value: unknown, depth = 0): string | undefined {
  const parsed = typeof value === 'string' && /^[{"]/.test(value) ? (parseJson(value) ?? value) : value
  if (typeof parsed === 'string') return textOf(parsed)
  if (Array.isArray(parsed))
    return parsed.length === 1 && depth < MAX_QUERY_DEPTH ? queryIn(parsed[0], depth + 1) : undefined
  if (!isRecord(parsed) || depth >= MAX_QUERY_DEPTH) return undefined
  for (const key of QUERY_KEYS) {
    const found = parsed[key] === undefined ? undefined : queryIn(parsed[key], depth + 1)
    if (found !== undefined) return found
  }
  const values = Object.values(parsed)
  return values.length === 1 && typeof values[0] === 'string' ? textOf(values[0]) : undefined
}

/** The request of a span of this kind; `undefined` if it is no retrieval. */
export function retrievalOfKind(kind: unknown, input: () => unknown): RetrievalRequest | undefined {
  const known = typeof kind === 'string' ? KINDS.get(kind.toLowerCase()) : undefined
  return known && { kind: known, query: queryIn(input()) }
}

const KINDS: ReadonlyMap<string, RetrievalRequest['kind']> = new Map<string, RetrievalRequest['kind']>([
  ['retriever', 'search'],
  ['retrieval', 'search'],
  ['reranker', 'rerank'],
  ['rerank', 'rerank'],
  ['search_memory', 'memory'],
])
