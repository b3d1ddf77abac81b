import { mayLackCalls } from '../../../judge/prompt/render-call.ts'
import {
  answerSection,
  historySection,
  instructionsSection,
  requestSection,
  retrievedSection,
  sourceSection,
  toolCallsSection,
} from '../../../judge/prompt/render-run.ts'
import type { SectionDraft } from '../../../judge/prompt/section.ts'
import type { AgentRun } from '../../../model/agent-run.ts'
import type { Skipped } from '../../../model/score.ts'
import { skipWithoutFact } from '../../../scoring/absence.ts'
import { historyOf, lacksEarlierCalls } from '../../../scoring/history.ts'
import type { ScoringContext } from '../../../scoring/scorer.ts'
import { skipUnjudgeable, textOr } from '../judge-scorer.ts'
import { contextOf, skipWithoutResults, skipWithoutTexts } from './answer-material.ts'
import type { ContextOption } from './answer-material.ts'

/** What the claims of an answer are compared with. */
export interface Record {
  /** The record, and the answer. */
  readonly sections: readonly SectionDraft[]
  /** True if the run or the earlier turns in its history hold a result, a document, a search that found none, or given context. */
  readonly hasEvidence: boolean
  /** Whether calls may have been made that the record lacks. */
  readonly mayLackCalls: boolean
}

/** The whole record of a finished run, or why its answer cannot be judged. */
export function recordOf(
  run: AgentRun,
  context: ScoringContext | undefined,
  id: string,
  given: ContextOption | undefined,
): Record | Skipped {
  const unfinished = context === undefined ? undefined : skipUnjudgeable(run, context, id)
  if (unfinished !== undefined) return unfinished
  const answer = textOr(run, 'output', id)
  if (typeof answer !== 'string') return answer
  const texts = contextOf(run, id, given)
  const documents = retrievedSection(run, texts)
  const hasEvidence = texts.length > 0 || documents.length > 0 || holdsResults(run)
  // A claim may follow from a document that was not recorded. Who gives the context knows what it is.
  const unread = texts.length > 0 ? undefined : skipWithoutTexts(run, id)
  const unseen = hasEvidence ? undefined : (skipWithoutFact(run, 'toolCalls', id) ?? skipWithoutResults(run, id))
  const unknown = unread ?? unseen
  if (unknown !== undefined) return unknown
  const lacksEarlier = lacksEarlierCalls(run)
  return {
    hasEvidence,
    mayLackCalls: lacksEarlier || !run.complete || mayLackCalls(run),
    sections: [
      ...instructionsSection(run),
      ...texts.map((text, index) => sourceSection(`given context ${index + 1}`, text)),
      ...historySection(run, { agent: 'agent, no evidence' }),
      ...requestSection(run, texts),
      ...toolCallsSection(run, context),
      ...documents,
      ...(lacksEarlier ? [{ title: 'about the record', fragments: [{ text: EARLIER }] }] : []),
      answerSection(run, context),
    ],
  }
}

const EARLIER = 'The record may lack calls: those of the earlier turns are not in it.'

function holdsResults(run: AgentRun): boolean {
  return (
    run.toolCalls.some(({ result }) => result !== undefined) ||
    run.children.some(holdsResults) ||
    historyOf(run).some(({ parts }) =>
      parts.some((part) => part.type === 'tool_call_response' && part.response !== undefined),
    )
  )
}
