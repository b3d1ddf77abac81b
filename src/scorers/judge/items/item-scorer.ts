import { contentFree, explain } from '../../../model/explanation.ts'
import type { Explanation } from '../../../model/explanation.ts'
import { inquire } from '../../../judge/judging.ts'
import type { Item } from '../../../judge/inquiry.ts'
import type { SectionDraft } from '../../../judge/prompt/section.ts'
import type { AgentRun } from '../../../model/agent-run.ts'
import type { Finding } from '../../../model/finding.ts'
import type { Skipped } from '../../../model/score.ts'
import type { Need, Scorer, ScoringContext } from '../../../scoring/scorer.ts'
import { defineJudgeScorer, explainFindings, ratingOf, shorten } from '../judge-scorer.ts'
import type { JudgeScorerOptions } from '../judge-scorer.ts'
import { skip } from '../../skip.ts'
import { twoDecimals } from '../../two-decimals.ts'

/** One item that the judge found in the run, and its verdict. */
export interface JudgedItem<V extends string> {
  /** The item in the judge's words. */
  readonly text: string
  /** One of the scorer's verdicts. */
  readonly verdict: V
  /** The judge's reasoning. */
  readonly reasoning: string
}

/** The judge's items with their verdicts. */
export interface ItemAnalysis<V extends string> {
  /** In the judge's order. */
  readonly items: readonly JudgedItem<V>[]
}

/** A scorer whose judge lists items with verdicts. The score is the mean of the verdicts' values. */
export interface ItemScorerDefinition<V extends string> {
  readonly id: string
  readonly description: string
  readonly options: JudgeScorerOptions
  readonly better: 'higher' | 'lower'
  readonly needs: readonly Need[]
  /** Options that affect the meaning of the score. */
  readonly identity?: unknown
  readonly role: string
  /** What an item is, and the question about each. */
  readonly list: {
    readonly name: string
    readonly prefix: string
    readonly instruction: string
    readonly question: string
  }
  /** Whether the items are parts of the answer. @default false */
  readonly inAnswer?: boolean
  /** The value of each verdict, 0 to 1, from the most favourable to the least. */
  readonly counts: Readonly<Record<V, number>>
  /** Whether a run with these verdicts passes. @default by the pass mark */
  readonly labelOf?: (verdicts: readonly V[]) => 'pass' | 'fail'
  /** Maximum number of items. @default 30 */
  readonly maxItems?: number
  /** What the judge sees, or why there is nothing to show. */
  readonly material: (run: AgentRun, context: ScoringContext | undefined) => readonly SectionDraft[] | Skipped
}

/** Creates an item scorer with one judge call. Without items the score is `skipped: not-applicable`. */
export function defineItemScorer<V extends string>(
  definition: ItemScorerDefinition<V>,
): Scorer<unknown, ItemAnalysis<V>> {
  const { id, description, options, better, needs, role, list, counts, labelOf, maxItems = 30, material } = definition
  const places = definition.inAnswer === true ? [{ in: 'answer' } as const] : []
  const verdicts = verdictsOf(counts)
  return defineJudgeScorer<ItemAnalysis<V>>({
    id,
    description,
    options,
    better,
    calls: 1,
    needs,
    identity: { options: definition.identity, counts, maxItems, prompts: [role, list] },
    drafts: (run) => {
      const drafts = material(run, undefined)
      return isSkipped(drafts) ? [] : drafts
    },
    assess: async (run, session, context) => {
      const drafts = material(run, context)
      if (isSkipped(drafts)) return drafts
      const asked = await inquire(session, {
        role,
        sections: drafts,
        questions: [],
        lists: [{ ...list, question: { text: list.question, verdicts }, max: maxItems }],
      })
      if (!asked.ok) return asked.score
      const items = (asked.value.items.get(list.name) ?? []).map((item) => toJudged(item, verdicts))
      if (items.length === 0)
        return skip('not-applicable', contentFree(`${id}: the judge found no ${list.name} to judge.`))
      const total = items.reduce((sum, { verdict }) => sum + counts[verdict], 0)
      const findings = items.map(({ text, verdict, reasoning }): Finding => ({
        about: singular(list.name),
        verdict,
        rating: ratingOf(better === 'higher' ? counts[verdict] : 1 - counts[verdict]),
        text,
        reason: reasoning,
        places,
      }))
      const name = items.length < maxItems ? list.name : `most important ${list.name}`
      return {
        status: 'scored',
        value: twoDecimals(total / items.length),
        ...(labelOf !== undefined && { label: labelOf(items.map(({ verdict }) => verdict)) }),
        explanation: explainItems(name, findings, verdicts),
        findings,
        analyzeStepResult: { items },
      }
    },
  })
}

function toJudged<V extends string>({ text, answer }: Item, verdicts: readonly V[]): JudgedItem<V> {
  const verdict = verdicts.find((known) => known === answer?.verdict)
  if (verdict === undefined) throw new Error(`expected every item to be answered, got none for ${text}`)
  return { text, verdict, reasoning: answer?.reasoning ?? '' }
}

/** The number of items with each verdict, and the items that are not as they should be. */
export function explainItems(name: string, findings: readonly Finding[], verdicts: readonly string[]): Explanation {
  const counted = verdicts.flatMap((verdict) => {
    const count = findings.filter((one) => one.verdict === verdict).length
    return count === 0 ? [] : [`${count} ${verdict.replaceAll('_', ' ')}`]
  })
  const noun = contentFree(findings.length === 1 ? singular(name) : name)
  return shorten(
    explain`Of ${findings.length} ${noun}: ${contentFree(counted.join(', '))}.${explainFindings(findings)}`,
  )
}

function singular(name: string): string {
  return name.replace(/s$/, '')
}

function verdictsOf<V extends string>(counts: Readonly<Record<V, number>>): V[] {
  const verdicts: V[] = []
  for (const verdict in counts) verdicts.push(verdict)
  return verdicts
}

function isSkipped(drafts: readonly SectionDraft[] | Skipped): drafts is Skipped {
  return 'status' in drafts
}
