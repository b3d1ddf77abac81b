/** What a span does that serves a run without being its loop. */
export type AsideKind = 'guardrail' | 'memory' | 'retrieval' | 'middleware' | 'decision'

/** Names of kinds and operations of all libraries, in lower case. Planning is part of the loop. */
const KINDS: ReadonlyMap<string, AsideKind> = new Map<string, AsideKind>([
  // The GenAI conventions' operations.
  ['run_guardrail', 'guardrail'],
  ['apply_guardrail', 'guardrail'],
  ['create_memory', 'memory'],
  ['update_memory', 'memory'],
  ['upsert_memory', 'memory'],
  ['search_memory', 'memory'],
  ['delete_memory', 'memory'],
  ['create_memory_store', 'memory'],
  ['delete_memory_store', 'memory'],
  ['retrieval', 'retrieval'],
  ['embeddings', 'retrieval'],
  ['rerank', 'retrieval'],
  // Calls of decision models, which choose among given answers: Strands' name, and AI SDK's.
  ['decision', 'decision'],
  ['decide', 'decision'],
  // The kinds of OpenInference, Langfuse, MLflow, AgentOps and OpenLLMetry.
  ['guardrail', 'guardrail'],
  ['memory', 'memory'],
  ['retriever', 'retrieval'],
  ['reranker', 'retrieval'],
  ['embedding', 'retrieval'],
  // Genkit's and VoltAgent's.
  ['embedder', 'retrieval'],
  ['middleware', 'middleware'],
  // Mastra's.
  ['processor_run', 'middleware'],
  ['memory_operation', 'memory'],
  ['rag_ingestion', 'retrieval'],
  ['rag_embedding', 'retrieval'],
  ['rag_vector_operation', 'retrieval'],
  ['rag_action', 'retrieval'],
])

/** What a span of this kind or operation does; `undefined` if it is not one that serves a run. */
export function asideKind(name: unknown): AsideKind | undefined {
  return typeof name === 'string' ? (KINDS.get(name) ?? KINDS.get(name.toLowerCase())) : undefined
}

/**
 * LangChain runs each hook of a middleware as a node of the agent's graph, in Python also as `abefore_agent`. The hooks that wrap a call of
 * the model or of a tool have no node.
 */
export function middlewareNode(spanName: string): AsideKind | undefined {
  return /\.a?(?:before|after)_(?:agent|model)$/.test(spanName) ? 'middleware' : undefined
}
