import { contentFree } from '../../../model/explanation.ts'
import {
  foundIn,
  historySection,
  mainSection,
  retrievedSection,
  sourceSection,
  toolCallsSection,
} from '../../../judge/prompt/render-run.ts'
import type { SectionDraft } from '../../../judge/prompt/section.ts'
import type { AgentRun } from '../../../model/agent-run.ts'
import type { Skipped } from '../../../model/score.ts'
import type { ScoringContext } from '../../../scoring/scorer.ts'
import { skipUnjudgeable, textOr } from '../judge-scorer.ts'
import { expectReturned } from '../../expect-returned.ts'
import { areTexts, expectOption } from '../../read-options.ts'
import { skipUnfinished, skipWithoutFact } from '../../../scoring/absence.ts'
import { skip } from '../../skip.ts'

/** Texts that an answer may use, or a function that returns them for each run. */
export type ContextOption = readonly string[] | ((run: AgentRun) => readonly string[] | undefined)

const TEXTS = 'options.context to be a list of texts'

/** @throws TypeError if the option is neither texts nor a function */
export function expectContext(factory: string, context: unknown): void {
  const isContext = context === undefined || typeof context === 'function' || areTexts(context)
  expectOption(isContext, factory, `${TEXTS}, or a function`, context)
}

/** Request and answer of a finished run, with earlier turns. */
export function requestAndAnswer(
  run: AgentRun,
  context: ScoringContext | undefined,
  id: string,
): readonly SectionDraft[] | Skipped {
  const unfinished = context === undefined ? undefined : skipUnjudgeable(run, context, id)
  if (unfinished !== undefined) return unfinished
  const request = textOr(run, 'userInput', id)
  if (typeof request !== 'string') return request
  const answer = textOr(run, 'output', id)
  if (typeof answer !== 'string') return answer
  return [
    ...historySection(run, { history: 10 }),
    mainSection("the user's request", request),
    mainSection("the agent's answer", answer),
  ]
}

/** The texts of the option `context` for a run. */
export function contextOf(run: AgentRun, id: string, given: ContextOption | undefined): readonly string[] {
  return (typeof given === 'function' ? expectReturned(given(run), id, TEXTS, areTexts) : given) ?? []
}

/** Context, tool results and retrieved documents, each text once, or why there are none. */
export function evidenceOf(
  run: AgentRun,
  id: string,
  given: ContextOption | undefined,
): readonly SectionDraft[] | Skipped {
  const texts = contextOf(run, id, given)
  // What was expected may follow from a document that was not recorded. Who gives the context knows what it is.
  const unread = texts.length > 0 ? undefined : skipWithoutTexts(run, id)
  if (unread !== undefined) return unread
  const gathered = [
    ...texts.map((text, index) => sourceSection(`given context ${index + 1}`, text)),
    ...(run.toolCalls.some(({ result }) => result !== undefined) ? toolCallsSection(run) : []),
  ]
  // An outage is no bad retrieval.
  const isOutage = gathered.length === 0 && haveSearchesFailed(run)
  const evidence = isOutage ? [] : [...gathered, ...retrievedSection(run, texts)]
  if (evidence.length > 0) return evidence
  const why = isOutage
    ? 'the search failed.'
    : 'the run has no tool results and no retrieved documents, and no context was given. Set options.context.'
  return (
    skipUnfinished(run, id) ??
    skipWithoutFact(run, 'toolCalls', id) ??
    skipWithoutResults(run, id) ??
    skip('not-applicable', contentFree(`${id}: ${why}`))
  )
}

/** Whether each of its searches failed, and nothing was found or remembered. */
function haveSearchesFailed(run: AgentRun): boolean {
  const found = foundIn(run).map(({ retrieval }) => retrieval)
  return (
    found.some(({ status }) => status === 'error') &&
    found.every(
      ({ kind, status, documents = [] }) => documents.length === 0 && (kind === 'memory' || status === 'error'),
    )
  )
}

/** Why documents that the model saw cannot be read: their texts were not recorded. */
export function skipWithoutTexts(run: AgentRun, id: string): Skipped | undefined {
  for (const { index, retrieval } of foundIn(run)) {
    if (retrieval.documents?.some(({ content }) => content !== undefined) === true) continue
    const missing = skipWithoutFact(run, `retrievals[${index}].documents`, id)
    if (missing !== undefined) return missing
  }
  return undefined
}

/** Why no result can be read, if one was not recorded. */
export function skipWithoutResults(run: AgentRun, id: string): Skipped | undefined {
  const missing = run.missing.find(({ what }) => /^toolCalls\[\d+\]\.result$/.test(what))
  return missing && skipWithoutFact(run, missing.what, id)
}
