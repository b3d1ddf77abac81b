import { contentFree } from '../../../model/explanation.ts'
import type { Finding } from '../../../model/finding.ts'
import { inquire } from '../../../judge/judging.ts'
import type { Item, ItemList } from '../../../judge/inquiry.ts'
import type { Scorer } from '../../../scoring/scorer.ts'
import { readOptions } from '../../read-options.ts'
import type { KeysOf } from '../../read-options.ts'
import { skip } from '../../skip.ts'
import { twoDecimals } from '../../two-decimals.ts'
import { defineJudgeScorer, judgeKeys, readJudgeOptions } from '../judge-scorer.ts'
import type { JudgeScorerOptions } from '../judge-scorer.ts'
import { expectContext } from './answer-material.ts'
import type { ContextOption } from './answer-material.ts'
import { claimList, claimVerdicts, isSupported, labelOfClaims, MAX_CLAIMS } from './claims.ts'
import type { ClaimVerdict } from './claims.ts'
import { explainItems } from './item-scorer.ts'
import type { JudgedItem } from './item-scorer.ts'
import { recordOf } from './record.ts'

/** Options of a scorer that checks the claims of an answer. */
export interface ClaimScorerOptions extends JudgeScorerOptions {
  /** What the claims are compared with. */
  readonly options?: {
    /** Additional evidence, besides what the run and the earlier turns in its history hold. */
    readonly context?: ContextOption
  }
}

const KNOWN: KeysOf<ClaimScorerOptions> = { ...judgeKeys, options: true }

/** One claim of an answer. */
export interface JudgedClaim extends JudgedItem<ClaimVerdict> {
  /** Whether the agent claims to have done something, which only a call can support. */
  readonly claimedAction: boolean
}

/** The claims of an answer, those of actions first. */
export interface ClaimAnalysis {
  /** In the judge's order. */
  readonly items: readonly JudgedClaim[]
}

/** What differs between the scorers of claims. */
export interface ClaimScorerDefinition {
  readonly id: string
  readonly description: string
  readonly better: 'higher' | 'lower'
  /** The factory, for messages. */
  readonly factory: string
}

const role = `You check what an agent's answer says against the record, and against nothing else: what you know yourself does not count. The record is the agent's instructions, what the user said (supported as what the user said), given context, documents, and the calls of tools with their results, of this turn and of earlier ones. What the agent itself said earlier is shown for context, and is no evidence.`

const actionVerdicts = ['supported', 'not_stated', 'contradicted'] as const

const actionList: ItemList = {
  name: 'actions',
  prefix: 'a',
  instruction:
    'every statement of the answer that something was done for the user, by the agent or in its name: changed, booked, paid, refunded, cancelled, sent, saved, noted, passed on. What was only looked up, offered, refused or announced for later is none; amounts, dates and other details are claims',
  question: {
    text: `Which call did it?
  "supported": a call of this turn or an earlier one did. One that returned without an error did what it was asked, unless its result says that it was refused; that it still shows an old value does not matter;
  "contradicted": the call failed, was refused or was about something else, or there is none;
  "not_stated": there is none, and the material says that the record may lack calls.`,
    verdicts: actionVerdicts,
  },
  max: 10,
  isOptional: true,
}

const claims = claimList("the agent's answer, besides those actions,", 'the record')

/** Creates a scorer that checks every claim of the answer against the whole record of the run. */
export function defineClaimScorer(
  definition: ClaimScorerDefinition,
  options: ClaimScorerOptions,
): Scorer<unknown, ClaimAnalysis> {
  const { factory, description, better } = definition
  const { id = definition.id, options: more = {} } = readJudgeOptions(factory, options, KNOWN)
  const { context: given } = readOptions(`${factory} options`, more, { context: true })
  expectContext(factory, given)
  return defineJudgeScorer<ClaimAnalysis>({
    id,
    description,
    options,
    better,
    calls: 1,
    readsHandOver: true,
    needs: ['input', 'output', 'systemInstructions', 'toolNames', 'toolArguments', 'toolResults', 'documents'],
    identity: { context: given, better, prompts: [role, actionList, claims, MAX_CLAIMS] },
    drafts: (run) => {
      const record = recordOf(run, undefined, id, given)
      return 'status' in record ? [] : record.sections
    },
    assess: async (run, session, context) => {
      const record = recordOf(run, context, id, given)
      if ('status' in record) return record
      const { sections, hasEvidence, mayLackCalls } = record
      const lists = hasEvidence ? [actionList, claims] : [actionList]
      const asked = await inquire(session, { role, sections, questions: [], lists })
      if (!asked.ok) return asked.score
      const items = lists.flatMap((list) =>
        (asked.value.items.get(list.name) ?? []).map((item) => toClaim(item, list === actionList)),
      )
      if (items.length === 0) return skip('not-applicable', contentFree(`${id}: ${nothingToJudge(hasEvidence)}`))
      const supported = items.filter(({ verdict }) => isSupported(verdict)).length
      const share = better === 'higher' ? supported : items.length - supported
      // A call that the record may lack may have done it.
      const counted = items.filter(
        ({ claimedAction, verdict }) => !(claimedAction && mayLackCalls && verdict === 'not_stated'),
      )
      const findings = items.map((item): Finding => ({
        about: item.claimedAction ? 'claimed action' : 'claim',
        verdict: item.verdict,
        rating: isSupported(item.verdict) ? 'good' : counted.includes(item) ? 'bad' : 'open',
        text: item.text,
        reason: item.reasoning,
        places: [{ in: 'answer' }],
      }))
      return {
        status: 'scored',
        value: twoDecimals(share / items.length),
        label: labelOfClaims(counted.map(({ verdict }) => verdict)),
        explanation: explainItems('claims', findings, claimVerdicts),
        findings,
        analyzeStepResult: { items },
      }
    },
  })
}

function nothingToJudge(hasEvidence: boolean): string {
  return hasEvidence
    ? 'the judge found no claims to judge.'
    : 'there is no result of a tool, no search and no given context, and the answer claims no action. Set options.context.'
}

function toClaim({ text, answer }: Item, claimedAction: boolean): JudgedClaim {
  const verdict = claimVerdicts.find((known) => known === answer?.verdict)
  if (verdict === undefined) throw new Error(`expected every claim to be answered, got none for ${text}`)
  return { text, verdict, reasoning: answer?.reasoning ?? '', claimedAction }
}
