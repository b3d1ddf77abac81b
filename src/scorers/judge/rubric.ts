import { contentFree, contentOnly, explain, joinExplanations } from '../../model/explanation.ts'
import type { Explanation } from '../../model/explanation.ts'
import { inquire } from '../../judge/judging.ts'
import {
  answerSection,
  documentsSection,
  historySection,
  instructionsSection,
  promptCallId,
  requestSection,
  retrievedSection,
  toolCallsSection,
} from '../../judge/prompt/render-run.ts'
import type { RunMaterial } from '../../judge/prompt/render-run.ts'
import { conversationSections } from '../../judge/prompt/render-conversation.ts'
import type { SectionDraft } from '../../judge/prompt/section.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import type { Finding, FindingPlace } from '../../model/finding.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { formatValue } from '../../scoring/format-value.ts'
import { defineJudgeScorer, judgeKeys, readJudgeOptions, shorten, skipUnjudgeable, textOr } from './judge-scorer.ts'
import type { JudgeScorerOptions } from './judge-scorer.ts'
import { callsAt, skipWithoutCallsAt } from '../../scoring/call-scores.ts'
import { expectOption, readOptions } from '../read-options.ts'
import type { KeysOf } from '../read-options.ts'
import { isRecord } from '../../spans/json.ts'
import { rubrics } from './criteria.ts'
import type { ReadyCriterion, RubricCriterion } from './criteria.ts'
import { twoDecimals } from '../two-decimals.ts'

/** Options of `createRubricScorer`. */
export interface RubricScorerOptions extends JudgeScorerOptions {
  /** At least one: a criterion of your own, the name of a ready one, or a tone of the answer, such as `{ tone: 'friendly and brief' }`. */
  readonly criteria: readonly (RubricCriterion | ReadyCriterion | { readonly tone: string })[]
  /**
   * What the criteria are about: the run, each of its tool calls, or each of its retrievals, all in one request; or a whole conversation.
   *
   * @default 'run'
   */
  readonly level?: 'run' | 'tool-call' | 'retrieval' | 'conversation'
}

const KNOWN: KeysOf<RubricScorerOptions> = { ...judgeKeys, criteria: true, level: true }
const NESTED: KeysOf<RubricCriterion> = { id: true, question: true, weight: true, required: true, description: true }

/** Every criterion, with its verdict. */
export interface RubricAnalysis {
  /** In the order of the rubric. */
  readonly criteria: readonly {
    readonly id: string
    readonly question: string
    readonly passed: boolean
    readonly weight: number
    readonly required: boolean
    readonly reasoning: string
  }[]
}

const role =
  'You judge the work of an agent by the criteria of a rubric, each on its own: one verdict must not colour another. "pass" if the question is to be answered with yes; "fail" if it is to be answered with no, or if the material does not show that the criterion is met. A criterion that only limits or forbids something is met where there is nothing of the kind.'
const verdicts = ['pass', 'fail'] as const

/**
 * A rubric of your own, by a judge: criteria that each pass or fail.
 *
 * Score: weights of the passed criteria ÷ all weights, two decimals; 0 if a required one failed. The judge never sees weights and required
 * flags. With `level: 'tool-call'` or `'retrieval'`, each call has a score of its own. One judge call for all of them.
 *
 * @example
 * ```ts
 * const scorer = createRubricScorer({
 *   model: 'openai/gpt-5-mini',
 *   criteria: [
 *     { id: 'polite', question: 'Is the answer polite?' },
 *     { id: 'no_promise', question: 'Does the answer promise only what a tool confirmed?', weight: 3, required: true },
 *   ],
 * })
 * ```
 *
 * @throws TypeError if the model, a criterion or an option is invalid or unknown
 */
export function createRubricScorer(options: RubricScorerOptions): Scorer<unknown, RubricAnalysis> {
  const { id = 'rubric', criteria: list, level = 'run' } = readJudgeOptions('createRubricScorer', options, KNOWN)
  expectOption(
    Object.hasOwn(UNITS, level),
    'createRubricScorer',
    `level to be ${Object.keys(UNITS).join(' or ')}`,
    level,
  )
  const criteria = checkCriteria(id, list)
  const { description } = criteria.length === 1 ? toCriterion(list[0]) : {}
  const totalWeight = criteria.reduce((sum, { weight }) => sum + weight, 0)
  const isWhole = level === 'run' || level === 'conversation'
  const unit = UNITS[level]
  const countOf = (run: AgentRun): number => (isWhole ? 1 : callsAt(run, level).length)
  return defineJudgeScorer<RubricAnalysis>({
    id,
    description: description ?? `The weighted share of the criteria that the ${unit} meets.`,
    level,
    options,
    calls: 1,
    answers: (run) => criteria.length * countOf(run),
    identity: { criteria, prompts: [role, verdicts, ...(isWhole ? [] : [aboutCalls(unit)])] },
    readsHandOver: true,
    needs: [
      ...(['input', 'output', 'systemInstructions', 'toolNames', 'toolArguments', 'toolResults'] as const),
      ...(level === 'retrieval' ? (['documents'] as const) : []),
    ],
    drafts: (run) => toDrafts(run, level, {}),
    assess: async (run, session, context) => {
      if (level === 'run') {
        const unfinished = skipUnjudgeable(run, context, id)
        if (unfinished !== undefined) return unfinished
        const answer = textOr(run, 'output', id)
        if (typeof answer !== 'string' && run.toolCalls.length === 0) return answer
      } else if (!isWhole && countOf(run) === 0) return skipWithoutCallsAt(run, level, id)
      const units = Array.from({ length: countOf(run) }, (_, index) => index)
      const idOf = (criterion: string, index: number): string =>
        isWhole ? criterion : `${criterion}.${unitId(level, index)}`
      const asked = await inquire(session, {
        role: isWhole ? role : `${role} ${aboutCalls(unit)}`,
        sections: toDrafts(run, level, context),
        questions: criteria.map((criterion) => ({
          ids: units.map((index) => idOf(criterion.id, index)),
          text: criterion.question,
          verdicts,
        })),
      })
      if (!asked.ok) return asked.score
      const judge = (index: number): RubricAnalysis['criteria'] =>
        criteria.map((criterion) => {
          const given = asked.value.answers.get(idOf(criterion.id, index))
          return { ...criterion, passed: given?.verdict === 'pass', reasoning: given?.reasoning ?? '' }
        })
      if (isWhole) {
        const judged = judge(0)
        return { ...scoreOf(judged, totalWeight), analyzeStepResult: { criteria: judged } }
      }
      return {
        status: 'calls',
        calls: units.map((index) => {
          const judged = judge(index)
          const places = [{ in: level === 'retrieval' ? level : 'call', index }] as const
          return { index, verdict: { ...scoreOf(judged, totalWeight, places), details: { criteria: judged } } }
        }),
      }
    },
  })
}

function scoreOf(
  judged: RubricAnalysis['criteria'],
  totalWeight: number,
  places: readonly FindingPlace[] = [],
): {
  readonly status: 'scored'
  readonly value: number
  readonly explanation: Explanation
  readonly findings: readonly Finding[]
} {
  const vetoed = judged.some(({ passed, required }) => required && !passed)
  const passedWeight = judged.reduce((sum, { passed, weight }) => sum + (passed ? weight : 0), 0)
  return {
    status: 'scored',
    value: vetoed ? 0 : twoDecimals(passedWeight / totalWeight),
    explanation: explainCriteria(judged, vetoed),
    findings: judged.map(({ question, passed, reasoning }) => ({
      about: 'criterion',
      verdict: passed ? 'pass' : 'fail',
      rating: passed ? 'good' : 'bad',
      text: question,
      reason: reasoning,
      places,
    })),
  }
}

/** What the criteria are about, by level. */
const UNITS = {
  run: 'run',
  'tool-call': 'tool call',
  retrieval: 'retrieval',
  conversation: 'conversation',
} as const

/** The id of a call in the material, and at the end of the ids of questions about it. */
function unitId(level: keyof typeof UNITS, index: number): string {
  return level === 'retrieval' ? `search_${index + 1}` : promptCallId(index)
}

function aboutCalls(unit: string): string {
  return `Each question is about one ${unit}, whose id is the end of the question's id. Judge that ${unit} alone; the rest is context.`
}

function toDrafts(run: AgentRun, level: keyof typeof UNITS, { handOver }: RunMaterial): SectionDraft[] {
  if (run.conversation !== undefined) return conversationSections(run.conversation, { handOver })
  return [
    ...instructionsSection(run),
    ...historySection(run),
    ...requestSection(run),
    ...toolCallsSection(run, { handOver, isSplit: level === 'run' }),
    ...(level === 'retrieval' ? retrievalSections(run) : retrievedSection(run)),
    answerSection(run, { handOver }),
  ]
}

function retrievalSections({ retrievals }: AgentRun): SectionDraft[] {
  let first = 0
  return retrievals.flatMap(({ query, documents = [] }, index) => {
    const texts = documents.flatMap(({ content }) => content ?? [])
    const section = documentsSection(unitId('retrieval', index), query, texts, first)
    first += texts.length
    return section
  })
}

function explainCriteria(criteria: RubricAnalysis['criteria'], vetoed: boolean): Explanation {
  const failed = criteria.filter(({ passed }) => !passed)
  const shown = failed.map(({ id, required, reasoning }) => {
    const because = reasoning === '' ? '' : ` (${reasoning})`
    return explain`${contentFree(id)}${contentFree(required ? ', required' : '')}${contentOnly(because)}`
  })
  const list = shown.length > 0 ? explain` Failed: ${joinExplanations(shown, '; ')}.` : contentFree('')
  const veto = vetoed ? ' A required criterion failed, so the score is 0.' : ''
  return shorten(
    explain`${criteria.length - failed.length} of ${criteria.length} criteria passed.${list}${contentFree(veto)}`,
  )
}

function checkCriteria(scorerId: string, criteria: unknown): Required<Omit<RubricCriterion, 'description'>>[] {
  if (!Array.isArray(criteria) || criteria.length === 0) {
    throw new TypeError(
      `Scorer ${scorerId}: expected criteria to be a list of at least one, got ${formatValue(criteria)}.`,
    )
  }
  const seen = new Set<string>()
  return criteria.map((criterion: unknown, index) => {
    const given = readOptions(`createRubricScorer criteria[${index}]`, toCriterion(criterion), NESTED)
    const { id, question, weight = 1, required = false } = given
    const at = `Scorer ${scorerId}: expected criteria[${index}]`
    const isId = typeof id === 'string' && /^[\w.-]{1,64}$/.test(id)
    if (!isId) throw new TypeError(`${at}.id to be letters, digits, _, - and ., got ${formatValue(id)}.`)
    if (seen.has(id.toLowerCase()))
      throw new TypeError(`${at}.id to differ from the others', got ${formatValue(id)} again.`)
    if (typeof question !== 'string' || question.trim() === '') {
      throw new TypeError(`${at}.question to be a string, got ${formatValue(question)}.`)
    }
    if (typeof weight !== 'number' || !(weight > 0) || !Number.isFinite(weight)) {
      throw new TypeError(`${at}.weight to be a positive number, got ${formatValue(weight)}.`)
    }
    if (typeof required !== 'boolean') {
      throw new TypeError(`${at}.required to be true or false, got ${formatValue(required)}.`)
    }
    seen.add(id.toLowerCase())
    return { id, question: question.replaceAll(/\s+/g, ' ').trim(), weight, required }
  })
}

/** What a name or a tone stands for. */
function toCriterion(given: unknown): RubricCriterion {
  if (isRecord(given) && typeof given.tone === 'string' && Object.keys(given).length === 1)
    return rubrics.tone(given.tone)
  const { tone: _tone, ...named } = rubrics
  const known = Object.entries(named).find(([name]) => name === given)?.[1]
  if (typeof given === 'string' && known === undefined) {
    throw new TypeError(
      `createRubricScorer: expected a criterion, one of ${Object.keys(named).join(', ')}, or { tone }, got ${formatValue(given)}.`,
    )
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its properties are checked next
  return known ?? (given as RubricCriterion)
}
