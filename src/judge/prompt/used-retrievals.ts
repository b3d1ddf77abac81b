import type { AgentRun, Retrieval, RetrievedDocument } from '../../model/agent-run.ts'

/** A retrieval that the run used as it is, and its place in `run.retrievals`. */
export interface UsedRetrieval {
  readonly index: number
  readonly retrieval: Retrieval
}

/** The retrievals of a run, except for searches whose documents a later reranking took in: of these, its output counts. */
export function usedRetrievals({ retrievals }: AgentRun): readonly UsedRetrieval[] {
  const used: UsedRetrieval[] = []
  const taken = new Set<string>()
  // The last reranking is the one whose output was used.
  for (let index = retrievals.length - 1; index >= 0; index--) {
    const retrieval = retrievals[index]
    if (retrieval === undefined) continue
    const keys = retrieval.documents?.flatMap(keysOf) ?? []
    if (!keys.some((key) => taken.has(key))) used.push({ index, retrieval })
    if (retrieval.kind === 'rerank') for (const key of keys) taken.add(key)
  }
  return used.toReversed()
}

/** What identifies a document in two lists: rerankers may keep its id or its text alone. */
function keysOf({ id, content }: RetrievedDocument): readonly string[] {
  return [...(id === undefined ? [] : [`id ${id}`]), ...(content === undefined ? [] : [`text ${content}`])]
}
