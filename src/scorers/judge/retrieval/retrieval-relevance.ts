import type { Finding } from '../../../model/finding.ts'
import { contentFree, contentOnly, explain } from '../../../model/explanation.ts'
import { inquire } from '../../../judge/judging.ts'
import { documentsSection, promptDocumentId } from '../../../judge/prompt/render-run.ts'
import type { SectionDraft } from '../../../judge/prompt/section.ts'
import type { AgentRun } from '../../../model/agent-run.ts'
import type { Skipped } from '../../../model/score.ts'
import type { CallVerdict, Scorer } from '../../../scoring/scorer.ts'
import { skipWithoutFact } from '../../../scoring/absence.ts'
import { defineJudgeScorer, judgeKeys, ratingOf, readJudgeOptions, shorten, textOr } from '../judge-scorer.ts'
import type { JudgeScorerOptions } from '../judge-scorer.ts'
import { expectOption } from '../../read-options.ts'
import type { KeysOf } from '../../read-options.ts'
import { skip } from '../../skip.ts'
import { twoDecimals } from '../../two-decimals.ts'
import { usedRetrievals } from '../../../judge/prompt/used-retrievals.ts'
import type { UsedRetrieval } from '../../../judge/prompt/used-retrievals.ts'

/** Options of `createRetrievalRelevanceScorer`. */
export interface RetrievalRelevanceScorerOptions extends JudgeScorerOptions {
  /**
   * `precision`: the relevant share of a retrieval's documents; `hit`: whether any of them is relevant; `ranked`: average precision, which is
   * 1 if the relevant ones come first.
   *
   * @default 'precision'
   */
  readonly measure?: 'precision' | 'hit' | 'ranked'
  /** How many documents of each retrieval count, from the best. @default all that are judged */
  readonly k?: number
}

const KNOWN: KeysOf<RetrievalRelevanceScorerOptions> = { ...judgeKeys, measure: true, k: true }

/** The verdicts on a document, best first. */
const VERDICTS = ['relevant', 'partly', 'not'] as const
type RelevanceVerdict = (typeof VERDICTS)[number]

/** The retrievals of a run, with a verdict on each document. */
export interface RetrievalRelevanceAnalysis {
  /** Those that were judged, by their start. */
  readonly retrievals: readonly JudgedRetrieval[]
}

/** One retrieval, and how relevant its documents are. */
export interface JudgedRetrieval {
  /** Its index in `run.retrievals`. */
  readonly retrieval: number
  /** 0 to 1. */
  readonly value: number
  /** In the retriever's order. */
  readonly documents: readonly {
    readonly id?: string
    readonly verdict: RelevanceVerdict
    readonly reasoning: string
  }[]
}

/** Most documents that a judge is shown, and most characters of each. */
const MAX_DOCUMENTS = 40
const MAX_CHARACTERS = 1000

const role =
  'You judge whether documents that an agent retrieved help with what was searched for. Judge each document by itself; how the agent used it does not count, nor what you know yourself.'
const question =
  'Is this document relevant to what was searched for? "relevant" if it holds what answers it, or a part of the answer; "partly" if it is about the same matter and holds no part of the answer; "not" if it is about something else.'

/**
 * Retrieval relevance, by a judge: whether the retrieved documents help with what was searched for.
 *
 * Each retrieval has a score of its own, level `retrieval`: the share of its documents that are relevant, where partly relevant ones count half; with
 * `measure: 'hit'`, whether any is relevant; with `'ranked'`, the mean of the precision at each relevant document, where partly relevant ones do not
 * count, and 0 if none is relevant. The score of the run is their mean. Two decimals; higher is better. `k` counts the first documents only. The judge sees
 * at most 40 documents and 1,000 characters of each. Without retrievals, or if nothing was found, `skipped: not-applicable`; if the spans
 * do not hold the documents' texts, `skipped: no-content`. One judge call.
 *
 * @example
 * ```ts
 * const scorer = createRetrievalRelevanceScorer({ model: 'openai/gpt-5-mini', k: 3 })
 * ```
 *
 * @throws TypeError if the model or an option is invalid or unknown
 */
export function createRetrievalRelevanceScorer(
  options: RetrievalRelevanceScorerOptions,
): Scorer<unknown, RetrievalRelevanceAnalysis> {
  const factory = 'createRetrievalRelevanceScorer'
  const { id = 'retrieval_relevance', ...more } = readJudgeOptions(factory, options, KNOWN)
  const { measure = 'precision', k = MAX_DOCUMENTS } = more
  expectOption(Object.hasOwn(MEASURES, measure), factory, "measure to be 'precision', 'hit' or 'ranked'", measure)
  expectOption(Number.isInteger(k) && k >= 1, factory, 'k to be a whole number of at least 1', k)
  return defineJudgeScorer<RetrievalRelevanceAnalysis>({
    id,
    description: 'Whether the documents that were retrieved are relevant to what was searched for.',
    level: 'retrieval',
    options,
    calls: 1,
    answers: (run) => countOf(shownOf(run, k)),
    identity: { measure, k, prompts: [role, question, VERDICTS] },
    needs: ['input', 'documents'],
    drafts: (run) => toDrafts(shownOf(run, k), run.userInput ?? ''),
    assess: async (run, session) => {
      const shown = shownOf(run, k)
      if (shown.length === 0) return skipWithoutDocuments(run, id)
      // A retrieval whose query is not recorded, as of a vector, is judged by the question.
      const asked = shown.every(({ retrieval }) => retrieval.query !== undefined) ? '' : textOr(run, 'userInput', id)
      if (typeof asked !== 'string') return asked
      const answered = await inquire(session, {
        role,
        sections: toDrafts(shown, asked),
        questions: [
          {
            ids: Array.from({ length: countOf(shown) }, (_, index) => promptDocumentId(index)),
            text: question,
            verdicts: VERDICTS,
          },
        ],
      })
      if (!answered.ok) return answered.score
      let place = 0
      const judged = shown.map(({ index, documents }): JudgedRetrieval => {
        const verdicts = documents.map(({ id: documentId }) => {
          const answer = answered.value.answers.get(promptDocumentId(place++))
          const verdict = VERDICTS.find((known) => known === answer?.verdict)
          if (verdict === undefined) throw new Error(`expected every document to be answered, got none for ${place}`)
          return {
            ...(documentId !== undefined && { id: documentId }),
            verdict,
            reasoning: answer?.reasoning ?? '',
          }
        })
        return {
          retrieval: index,
          value: MEASURES[measure](verdicts.map(({ verdict }) => verdict)),
          documents: verdicts,
        }
      })
      return {
        status: 'calls',
        calls: judged.map((one): CallVerdict => {
          const { retrieval: index, value } = one
          const findings = one.documents.map(({ id: name = 'a document', verdict, reasoning }, document): Finding => ({
            about: 'document',
            verdict,
            rating: ratingOf(COUNTS[verdict]),
            text: name,
            reason: reasoning,
            places: [{ in: 'retrieval', index, document }],
          }))
          const explanation = explainJudged(one)
          return { index, verdict: { status: 'scored', value: twoDecimals(value), explanation, findings } }
        }),
        analyzeStepResult: { retrievals: judged },
      }
    },
  })
}

/** A retrieval, and its documents that the judge is shown. */
interface Shown extends UsedRetrieval {
  readonly documents: readonly { readonly id?: string; readonly content: string }[]
}

/** The first documents of each retrieval with a text. */
function shownOf(run: AgentRun, k: number): readonly Shown[] {
  const used = usedRetrievals(run).slice(0, MAX_DOCUMENTS)
  const withTexts = used.flatMap(({ index, retrieval }) => {
    const documents = (retrieval.documents?.slice(0, k) ?? []).flatMap(({ id, content }) =>
      content === undefined || content.trim() === '' ? [] : [{ ...(id !== undefined && { id }), content }],
    )
    return documents.length === 0 ? [] : [{ index, retrieval, documents }]
  })
  const each = Math.max(1, Math.floor(MAX_DOCUMENTS / Math.max(1, withTexts.length)))
  return withTexts.map((one) => ({ ...one, documents: one.documents.slice(0, each) }))
}

function countOf(shown: readonly Shown[]): number {
  return shown.reduce((sum, { documents }) => sum + documents.length, 0)
}

function toDrafts(shown: readonly Shown[], asked: string): SectionDraft[] {
  let place = 0
  return shown.flatMap(({ retrieval, documents }, index) => {
    const first = place
    place += documents.length
    const texts = documents.map(({ content }) => content.slice(0, MAX_CHARACTERS))
    return documentsSection(`search ${index + 1}`, retrieval.query ?? asked, texts, first)
  })
}

const COUNTS: Readonly<Record<RelevanceVerdict, number>> = { relevant: 1, partly: 0.5, not: 0 }

const MEASURES = {
  precision: (verdicts: readonly RelevanceVerdict[]) =>
    verdicts.reduce((sum, verdict) => sum + COUNTS[verdict], 0) / verdicts.length,
  hit: (verdicts: readonly RelevanceVerdict[]) => (verdicts.includes('relevant') ? 1 : 0),
  ranked: averagePrecision,
}

/** Average precision over the documents that were judged, as trec_eval computes it. */
function averagePrecision(verdicts: readonly RelevanceVerdict[]): number {
  let relevant = 0
  let sum = 0
  for (const [index, verdict] of verdicts.entries()) {
    if (verdict !== 'relevant') continue
    relevant += 1
    sum += relevant / (index + 1)
  }
  return relevant === 0 ? 0 : sum / relevant
}

function skipWithoutDocuments(run: AgentRun, id: string): Skipped {
  for (const [index] of run.retrievals.entries()) {
    const missing = skipWithoutFact(run, `retrievals[${index}].documents`, id)
    if (missing !== undefined) return missing
  }
  const isFailed = run.retrievals.every(({ status }) => status === 'error')
  const outside = "the run has no retrieval; one outside of the agent's span belongs to no run"
  const why = run.retrievals.length === 0 ? outside : isFailed ? 'the search failed' : 'nothing was found'
  return skip('not-applicable', contentFree(`${id}: ${why}.`))
}

function explainJudged({ documents: all }: JudgedRetrieval): ReturnType<typeof shorten> {
  const counted = VERDICTS.flatMap((verdict) => {
    const count = all.filter((document) => document.verdict === verdict).length
    return count === 0
      ? []
      : [`${count} ${verdict === 'not' ? 'not relevant' : verdict === 'partly' ? 'partly relevant' : verdict}`]
  })
  const others = all
    .filter(({ verdict }) => verdict !== 'relevant')
    .slice(0, 5)
    .map(({ id, verdict, reasoning }) => `${id ?? 'a document'} ${verdict}${reasoning === '' ? '' : ` (${reasoning})`}`)
  const said = others.length === 0 ? '' : ` ${others.join('; ')}.`
  return shorten(
    explain`Of ${all.length} ${contentFree(all.length === 1 ? 'document' : 'documents')}: ${contentFree(counted.join(', '))}.${contentOnly(said)}`,
  )
}
