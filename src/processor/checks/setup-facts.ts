import type { AgentRun } from '../../model/agent-run.ts'
import type { ScorerLevel } from '../../model/score.ts'
import type { ResolvedScorer } from '../../engine/config/options.ts'
import type { SeenAgents } from '../../engine/notices/agent-names.ts'
import { curesOf } from '../../runs/view/cure-of.ts'
import { holdsContent } from '../../runs/view/missing.ts'
import { runForeignNow } from '../../scoring/run-foreign.ts'
import type { Need } from '../../scoring/scorer.ts'

/** What is known about the set-up of scoring, in a running process or from what `spanscore doctor` was told. Neither keys nor content of runs. */
export interface SetupFacts extends SeenAgents {
  readonly nodeVersion: string
  readonly scorers: readonly ScorerFacts[]
  /** A run of each dialect that holds no content, or whose question or answer is not recorded because of a setting. */
  readonly withoutContent: readonly SeenRun[]
  /** False if no processor of the tracer provider exports spans and their scores. */
  readonly exportsSpans: boolean
}

/** One configured scorer. */
export interface ScorerFacts {
  readonly id: string
  readonly kind: 'code' | 'judge'
  readonly level: ScorerLevel
  readonly agents?: readonly string[]
  /** The messages, arguments and results that it reads. */
  readonly reads: readonly Need[]
  readonly model?: string
  /** Why its judge cannot be asked. */
  readonly unavailable?: string
}

/** What one run shows about its instrumentation. */
export interface SeenRun {
  readonly agent?: string
  readonly hasConversationId: boolean
  readonly dialect: string
  readonly scope: string
  readonly content: 'full' | 'partial' | 'none'
  /** Facts that its spans do not hold, such as `toolCalls`. */
  readonly missing: readonly string[]
  /** True if the run has spans of model calls. */
  readonly hasModelCalls: boolean
  /** What records what is missing, as one or more instructions. */
  readonly cure?: string
}

/** The facts that are missing from a run without content. */
const CONTENT: ReadonlySet<Need> = new Set([
  'input',
  'output',
  'systemInstructions',
  'toolArguments',
  'toolResults',
  'documents',
  'steps',
])

/** Describes a configured scorer. Its only I/O is a look into `node_modules`. */
export function toScorerFacts({ id, scorer, agents }: ResolvedScorer): ScorerFacts {
  const { judge } = scorer
  // An error is reported when the judge is asked for a score.
  const asked = judge === undefined ? undefined : runForeignNow((): unknown => judge.unavailable())
  const why = asked?.ok === true ? asked.value : undefined
  return {
    id,
    kind: scorer.kind,
    level: scorer.level,
    reads: scorer.needs.filter((need) => CONTENT.has(need)),
    ...(agents !== undefined && { agents: [...agents] }),
    ...(judge !== undefined && { model: judge.model }),
    ...(typeof why === 'string' && { unavailable: why }),
  }
}

/** Describes a run. */
export function toSeenRun(run: AgentRun): SeenRun {
  const { agent, conversationId, dialect, scope, content, missing, steps } = run
  const cure = curesOf(missing)
  return {
    hasConversationId: conversationId !== undefined,
    dialect,
    scope: scope.name,
    content,
    missing: missing.map(({ what }) => what),
    hasModelCalls: steps.length > 0,
    ...(agent.name !== undefined && { agent: agent.name }),
    ...(cure !== undefined && { cure }),
  }
}

/** Whether a run has no content, or its question or answer is switched off. This takes less time than all that `toSeenRun` looks for. */
export function lacksContent(run: AgentRun): boolean {
  if (!holdsContent(run)) return true
  if (run.userInput !== undefined && run.output !== undefined) return false
  return run.missing.some(({ what, why }) => (what === 'input' || what === 'output') && why === 'not-captured')
}
