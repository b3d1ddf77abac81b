import { explain } from '../../../model/explanation.ts'
import { inquire } from '../../../judge/judging.ts'
import type { Answers } from '../../../judge/inquiry.ts'
import {
  historySection,
  instructionsSection,
  promptCallId,
  requestSection,
  retrievedSection,
  toolCallsSection,
} from '../../../judge/prompt/render-run.ts'
import type { SectionDraft } from '../../../judge/prompt/section.ts'
import type { AgentRun } from '../../../model/agent-run.ts'
import type { Finding } from '../../../model/finding.ts'
import { skipWithoutCallsAt } from '../../../scoring/call-scores.ts'
import { lacksEarlierCalls } from '../../../scoring/history.ts'
import type { CallVerdict, Scorer } from '../../../scoring/scorer.ts'
import { skipWithoutFact } from '../../../scoring/absence.ts'
import { defineJudgeScorer, explainFindings, readJudgeOptions, judgeKeys, shorten, textOr } from '../judge-scorer.ts'
import type { JudgeScorerOptions } from '../judge-scorer.ts'
import { schemasSection, valuesOf, valuesSection } from './values.ts'
import type { ArgumentValue } from './values.ts'

/** The verdicts on a value, best first. A `guessed` value is an assumed one on which something depends. */
const VERDICTS = ['stated', 'assumed', 'guessed', 'altered', 'invented'] as const
const MISSING = ['none', 'missing'] as const

const prompts = {
  role: `You judge where an agent has the values of its calls' arguments from. For a value of a call, only what came before that call counts: the instructions, what the user said, documents, and results of earlier calls. Whether the call itself was right does not matter, nor what came of it.`,
  value: `Where is this value from?
  "stated": the user, a result, a document or the instructions state it, in whatever form (another spelling or format, a code for a name, the date of "tomorrow"). So is what follows from them by calculation or by a rule of the instructions, what fits a condition of the user ("the cheapest"), a default of the schema, what the agent proposed and the user accepted, and a text that the agent composes (a query, a message, a reason) if it asserts nothing new;
  "assumed": it is real or usual, but nobody chose it, and nothing that the user would want to decide depends on it;
  "guessed": it is real or usual, but nobody chose it, and something depends on it, such as who pays, how much, for whom, or when;
  "altered": something of the kind was stated, and this value differs from it, also in one digit, or does not fit the condition;
  "invented": nothing states it or anything like it.`,
  missing: `Does this call lack an argument that it needs: by the schema, or because a call without it does not do what was asked for? "missing": one is needed (its reasoning begins with the name of the argument), even if the call succeeded; "none": none is, or it has a default.`,
} as const

/**
 * Tool arguments, by a judge: whether the values of each call come from somewhere.
 *
 * Each value is _stated_ (by the user, a result or the instructions, in whatever form; calculated from these; or accepted by the user), _assumed_ (real, but nobody chose it), _guessed_ (assumed, and
 * something depends on it, such as who pays), _altered_ or _invented_; or a needed one is _missing_. Each call has a score, level
 * `tool-call`: 0 if a value is guessed, altered, invented or missing, else 1; that of the run is their mean. The judge is shown the tool's schema where it is
 * recorded. If results, or calls of earlier turns, are not recorded, an invented value does not count. One judge call for all calls of a run.
 *
 * @example
 * ```ts
 * const scorer = createToolArgumentsScorerLLM({ model: 'openai/gpt-5-mini' })
 * ```
 *
 * @throws TypeError if the model or an option is invalid or unknown
 */
export function createToolArgumentsScorerLLM(options: JudgeScorerOptions): Scorer {
  const { id = 'tool_arguments_llm' } = readJudgeOptions('createToolArgumentsScorerLLM', options, judgeKeys)
  return defineJudgeScorer<undefined>({
    id,
    description: 'Whether the values of calls come from the user, from results or from the instructions.',
    level: 'tool-call',
    options,
    calls: 1,
    answers: (run) => valuesOf(run).length + run.toolCalls.length,
    identity: { prompts: [prompts, VERDICTS, MISSING] },
    needs: ['input', 'systemInstructions', 'toolNames', 'toolArguments', 'toolResults', 'documents', 'availableTools'],
    drafts: (run) => toDrafts(run, valuesOf(run)),
    assess: async (run, session) => {
      if (run.toolCalls.length === 0) return skipWithoutCallsAt(run, 'tool-call', id)
      const request = run.systemInstructions === undefined ? textOr(run, 'userInput', id) : ''
      if (typeof request !== 'string') return request
      const recorded = [...run.toolCalls.keys()].filter((index) => run.toolCalls[index]?.arguments !== undefined)
      const unrecorded = skipWithoutFact(run, 'toolCalls[0].arguments', id)
      if (recorded.length === 0 && unrecorded !== undefined) return unrecorded
      const values = valuesOf(run)
      const asked = await inquire(session, {
        role: prompts.role,
        sections: toDrafts(run, values),
        questions: [
          ...(values.length === 0
            ? []
            : [{ ids: values.map((value) => value.id), text: prompts.value, verdicts: VERDICTS }]),
          { ids: recorded.map(missingId), text: prompts.missing, verdicts: MISSING },
        ],
      })
      if (!asked.ok) return asked.score
      const mayLackSources =
        lacksEarlierCalls(run) || run.missing.some(({ what }) => /^toolCalls\[\d+\]\.result$/.test(what))
      const calls = [...run.toolCalls.keys()].map((index): CallVerdict => {
        const unknown = skipWithoutFact(run, `toolCalls[${index}].arguments`, id)
        const own = values.filter(({ call }) => call === index)
        return { index, verdict: unknown ?? scoreOf(asked.value, own, index, mayLackSources) }
      })
      return { status: 'calls', calls }
    },
  })
}

function toDrafts(run: AgentRun, values: readonly ArgumentValue[]): SectionDraft[] {
  return [
    ...instructionsSection(run),
    ...schemasSection(run),
    ...historySection(run),
    ...requestSection(run),
    ...retrievedSection(run),
    ...toolCallsSection(run),
    valuesSection(values),
  ]
}

function missingId(call: number): string {
  return `${promptCallId(call)}.missing`
}

function scoreOf(
  { answers }: Answers,
  values: readonly ArgumentValue[],
  index: number,
  mayLackSources: boolean,
): CallVerdict['verdict'] {
  const missing = answers.get(missingId(index))
  const findings = [
    ...values.map(({ id, path }): Finding => {
      const { verdict = '', reasoning: reason = '' } = answers.get(id) ?? {}
      const isOpen = verdict === 'assumed' || (verdict === 'invented' && mayLackSources)
      return {
        about: 'argument',
        verdict: verdict === 'guessed' ? 'assumed' : verdict,
        rating: verdict === 'stated' ? 'good' : isOpen ? 'open' : 'bad',
        text: path,
        reason,
        places: [{ in: 'arguments', index, path }],
      }
    }),
    ...(missing?.verdict === 'missing'
      ? [
          {
            about: 'argument',
            verdict: 'missing',
            rating: 'bad',
            text: missing.reasoning,
            places: [{ in: 'call', index }],
          } as const,
        ]
      : []),
  ]
  const stated = findings.filter(({ rating }) => rating === 'good').length
  return {
    status: 'scored',
    value: findings.some(({ rating }) => rating === 'bad') ? 0 : 1,
    explanation: shorten(explain`${stated} of ${findings.length} values stated.${explainFindings(findings)}`),
    findings,
  }
}
