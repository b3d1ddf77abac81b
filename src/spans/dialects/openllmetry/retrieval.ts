import type { RetrievedDocument } from '../../../model/agent-run.ts'
import { makeDocument, MAX_DOCUMENTS, toDocuments } from '../../content/documents.ts'
import { textOf } from '../../json.ts'
import { operationOf } from '../../semconv.ts'
import type { SourceSpan } from '../../source-span.ts'

/**
 * OpenLLMetry's instrumentations of vector databases. Only their scope shows them, so that spans of other databases are not looked at: some
 * of them write nothing else that ordinary spans of databases lack.
 */
export const VECTOR_SCOPE: RegExp =
  /^(?:opentelemetry\.instrumentation\.|@traceloop\/instrumentation-)(?:chromadb|qdrant|pinecone|milvus|weaviate|marqo|lancedb)$/

/** A query, and not a change of the index. The span has the name of the client's method. */
export function isVectorQuery({ scope, name }: SourceSpan): boolean {
  return (
    VECTOR_SCOPE.test(scope.name) &&
    /[._ ](?:_?query|search|hybrid_search|near_\w{1,20}|fetch_objects)(?:_\w{1,40})?$/.test(name)
  )
}

/** Whether the span is a retriever of LangChain, or a query of a vector database. */
export function isRetrieval(span: SourceSpan): boolean {
  return operationOf(span.attributes) === 'vector_db_retrieve' || isVectorQuery(span)
}

/** What a query found: an event for each document. `undefined` if the instrumentation writes none. */
export function queryResults({ events }: SourceSpan): readonly RetrievedDocument[] | undefined {
  const found: RetrievedDocument[] = []
  for (const { name, attributes } of events) {
    const key = RESULT_EVENTS.find((event) => event === name)
    if (key === undefined) continue
    if (found.length > MAX_DOCUMENTS) break
    found.push(documentOf(key, attributes) ?? {})
  }
  return found.length === 0 ? undefined : found
}

/** A distance is no score: the nearest document has the lowest one. */
function documentOf(key: string, attributes: SourceSpan['attributes']): RetrievedDocument | undefined {
  const metadata = attributes[`${key}.metadata`] ?? attributes[`${key}.entity`]
  const id = attributes[`${key}.id`]
  // Milvus' query writes the fields of each record as they are.
  if (id === undefined && metadata === undefined) return toDocuments([attributes])?.[0]
  const content = attributes[`${key}.document`] ?? toDocuments([{ metadata }])?.[0]?.content
  return makeDocument(id, content, attributes[`${key}.score`], metadata)
}

const RESULT_EVENTS = ['db.query.result', 'db.search.result']

/** The keys of these events, and the queries of clients that search by text. */
export const VECTOR_KEYS: readonly string[] = [...RESULT_EVENTS.map((key) => `${key}.*`), 'db.vector.query.*'].concat([
  'db.chroma.query.where',
  'db.chroma.query.where_document',
  'db.weaviate.query.*',
])

export function collectionOf({ attributes }: SourceSpan): string | undefined {
  for (const key in attributes) if (key.endsWith('.collection_name')) return textOf(attributes[key])
  return undefined
}
