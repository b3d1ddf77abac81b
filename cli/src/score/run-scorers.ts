import type { AgentRun } from '../../../src/model/agent-run.ts'
import type { Evaluation, Score } from '../../../src/model/score.ts'
import type { ResolvedOptions, ResolvedScorer } from '../../../src/engine/config/options.ts'
import { conversationKey } from '../../../src/conversations/conversation-key.ts'
import { ConversationWarnings } from '../../../src/conversations/conversation-warnings.ts'
import type { ConversationMember } from '../../../src/conversations/member.ts'
import { chooseRun, isForNested } from '../../../src/engine/choose-run.ts'
import { conversationOffers, isForConversations } from '../../../src/engine/conversation-offers.ts'
import { redactedMember, redactFailed, redactInSteps } from '../../../src/engine/redact.ts'
import { SamplePoint } from '../../../src/sampling/sample-point.ts'
import { withoutPause } from '../../../src/scoring/background.ts'
import { evaluate } from '../../../src/scoring/evaluate.ts'
import type { ExpectedAnswer } from '../../../src/scoring/scorer.ts'
import { isolated } from '../../../src/scoring/isolation.ts'

/** A run, top-level or nested, or a conversation as a run, and the evaluations of its scorers. */
export interface EvaluatedRun {
  readonly run: AgentRun
  readonly evaluations: readonly Evaluation[]
}

/** Settings of `RunScorers`. */
export interface RunScorersOptions {
  /** The options of the configuration file. */
  readonly options: ResolvedOptions
  /** Maximum number of scores by judges, over all runs. */
  readonly judgeLimit: number
  /** Which runs are scored. */
  readonly matches: (run: AgentRun) => boolean
  /** What is expected of a run. @default nothing */
  readonly givenOf?: ((run: AgentRun) => ExpectedAnswer) | undefined
}

/** Whether a run has a scorer's score already. */
export type HasScore = (run: AgentRun, scorer: Evaluation['scorer']) => boolean

/**
 * Scores runs by the configured scorers, with the rules of an application: `agent`, `scope`, `when`, `passAt`, `redact` and
 * `timeoutMs`. `sample` and `budget` are for live traffic: here every run is scored, and `judgeLimit` is the bound.
 */
export class RunScorers {
  readonly #options: ResolvedOptions
  readonly #scorers: readonly ResolvedScorer[]
  readonly #ofConversations: readonly ResolvedScorer[]
  /** The runs of each conversation. */
  readonly #conversations = new Map<string, ConversationMember[]>()
  /** What shows that ids of conversations are missing or wrong. */
  readonly warnings: string[] = []
  readonly #warnings = new ConversationWarnings((message) => this.warnings.push(message))
  readonly #matches: (run: AgentRun) => boolean
  readonly #givenOf: RunScorersOptions['givenOf']
  /** Why a judge cannot be called, by scorer. */
  readonly #unavailable: ReadonlyMap<string, string>
  #judgeScoresLeft: number
  #judgeScores = 0
  #existing = 0

  constructor({ options, judgeLimit, matches, givenOf }: RunScorersOptions) {
    this.#options = options
    const scorers = options.scorers.map((scorer) => ({ ...scorer, sample: 1 }))
    this.#scorers = scorers.filter((scorer) => !isForConversations(scorer))
    this.#ofConversations = scorers.filter(isForConversations)
    this.#matches = matches
    this.#givenOf = givenOf
    this.#judgeScoresLeft = judgeLimit
    this.#unavailable = new Map(
      options.scorers.flatMap(({ id, scorer }) => {
        const why = scorer.judge?.unavailable()
        return why === undefined ? [] : [[id, why] as const]
      }),
    )
  }

  /** Number of scores requested from judges. */
  get judgeScores(): number {
    return this.#judgeScores
  }

  /** Number of scores that runs had already. */
  get existing(): number {
    return this.#existing
  }

  /** Scores a top-level run and its nested runs. Runs without a matching scorer are left out, and scores that exist. */
  async score(run: AgentRun, hasScore: HasScore = () => false): Promise<readonly EvaluatedRun[]> {
    const chosen = [...withNested(run)].filter((one) => this.#matches(one))
    if (chosen[0] === run) this.#keep(run)
    const scored: EvaluatedRun[] = []
    for (const one of chosen) {
      const evaluations: Evaluation[] = []
      for (const scorer of this.#scorers) {
        if (hasScore(one, scorer.about)) {
          this.#existing += 1
          continue
        }
        // The judges of a run are called sequentially, so that the number of concurrent runs limits concurrent calls.
        const evaluation = this.#evaluate(scorer, one, one !== run)
        if (evaluation === undefined) continue
        const done = evaluation instanceof Promise ? await evaluation : evaluation
        evaluations.push(this.#shown(done))
      }
      if (evaluations.length > 0) scored.push({ run: one, evaluations })
    }
    return scored
  }

  /** Scores the conversations of all runs that were scored before. */
  async *conversations(): AsyncGenerator<EvaluatedRun> {
    for (const members of this.#conversations.values()) {
      this.#warnings.ended(members)
      for (const { run, isFor } of conversationOffers(this.#ofConversations, members, { endedBy: 'file' })) {
        const evaluations: Evaluation[] = []
        for (const scorer of this.#ofConversations.filter(isFor)) {
          const evaluation = await this.#evaluate(scorer, run, false)
          if (evaluation !== undefined) evaluations.push(this.#shown(evaluation))
        }
        if (evaluations.length > 0) yield { run, evaluations }
      }
    }
  }

  /** Only a part of each run is kept, so that memory grows with the turns of conversations alone. */
  #keep(run: AgentRun): void {
    if (this.#ofConversations.length === 0) return
    const key = conversationKey(run)
    if (key === undefined) {
      this.#warnings.withoutId(run)
      return
    }
    const members = this.#conversations.get(key) ?? []
    this.#conversations.set(key, members)
    members.push(withoutPause(redactedMember(run, this.#options.redact)))
  }

  #shown(evaluation: Evaluation): Evaluation {
    return this.#options.stripContent ? withoutContent(evaluation) : evaluation
  }

  /** Returns `undefined` if the scorer does not apply to this run. */
  #evaluate(scorer: ResolvedScorer, run: AgentRun, isNested: boolean): Evaluation | Promise<Evaluation> | undefined {
    if (isNested && !isForNested(scorer)) return undefined
    const choice = chooseRun(scorer, run, new SamplePoint(run.traceId))
    if (choice.status === 'skipped') return undefined
    if (choice.status === 'failed') return unasked(scorer, run, choice)
    return scorer.scorer.kind === 'judge' ? this.#judge(scorer, run) : this.#ask(scorer, run)
  }

  #judge(scorer: ResolvedScorer, run: AgentRun): Evaluation | Promise<Evaluation> {
    const why = this.#unavailable.get(scorer.id)
    if (why !== undefined) return unasked(scorer, run, { status: 'skipped', reason: 'judge-unavailable', message: why })
    if (this.#judgeScoresLeft <= 0) {
      const message = 'The number of judge scores that --judge-limit allows is used up; raise it.'
      return unasked(scorer, run, { status: 'skipped', reason: 'refused', message })
    }
    const { redact } = this.#options
    try {
      // The runs of a conversation were redacted before they were kept.
      const seen =
        redact === undefined || run.conversation !== undefined ? run : withoutPause(redactInSteps(redact, run))
      this.#judgeScoresLeft--
      this.#judgeScores++
      return this.#ask(scorer, seen)
    } catch (error) {
      return unasked(scorer, run, redactFailed(error))
    }
  }

  #ask({ scorer, id, passAt, about }: ResolvedScorer, run: AgentRun): Evaluation | Promise<Evaluation> {
    const { timeoutMs, handOver, onJudgeCall } = this.#options
    const given = this.#givenOf?.(run)
    return isolated(() =>
      evaluate(scorer, run, {
        id,
        about,
        ...(passAt !== undefined && { passAt }),
        timeoutMs,
        handOver,
        ...(given?.groundTruth !== undefined && { expected: given }),
        ...(onJudgeCall !== undefined && { onJudgeCall: (call) => onJudgeCall({ ...call, scorerId: id }) }),
      }),
    )
  }
}

/** Removes what the option `stripContent` removes. Every report uses the result, so that none can show that content. */
function withoutContent(evaluation: Evaluation): Evaluation {
  const { score, calls } = evaluation
  return {
    ...evaluation,
    score: scoreWithoutContent(score),
    ...(calls !== undefined && { calls: calls.map((call) => ({ ...call, score: scoreWithoutContent(call.score) })) }),
  }
}

function scoreWithoutContent(score: Score): Score {
  if (score.status !== 'scored') {
    const { messageWithoutContent, ...kept } = score
    return { ...kept, message: messageWithoutContent ?? '' }
  }
  const { explanation: _whole, explanationWithoutContent: explanation, findings: _, details: _details, ...kept } = score
  return { ...kept, ...(explanation !== undefined && { explanation }) }
}

function* withNested(run: AgentRun): Generator<AgentRun> {
  yield run
  for (const child of run.children) yield* withNested(child)
}

function unasked({ about }: ResolvedScorer, run: AgentRun, score: Score): Evaluation {
  const { id: runId, revision, complete } = run
  return { scorer: about, runId, revision, complete, durationMs: 0, score }
}
