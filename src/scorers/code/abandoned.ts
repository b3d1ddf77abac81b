import { contentFree } from '../../model/explanation.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import { CALL_STATUS } from '../../model/call-status.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import { callEndingOf } from '../../scoring/call-ending.ts'
import { skipWithoutFact } from '../../scoring/absence.ts'
import type { ScoredVerdict, Scorer } from '../../scoring/scorer.ts'
import { readOptions } from '../read-options.ts'
import { scorerKeys } from '../scorer-options.ts'
import type { ScorerOptions } from '../scorer-options.ts'

/**
 * Abandoned conversations, by code: 1 if the last run failed, gave no answer, or still waits for a tool or an approval; else 0. Lower is
 * better; passes at 0.
 *
 * A user who says nothing after an answer has not abandoned the conversation. A last run without a text whose last call succeeded, or that
 * handed the user over to a person (`handOver` of the scoring options), has an answer. If the spans do not show an answer because content is not
 * recorded, `skipped: no-content`.
 *
 * @example
 * ```ts
 * const scorer = createAbandonedScorer()
 * ```
 *
 * @throws TypeError if an option is invalid or unknown
 */
export function createAbandonedScorer(options: ScorerOptions = {}): Scorer {
  const { id = 'abandoned', passAt = 0 } = readOptions('createAbandonedScorer', options, scorerKeys)
  return defineScorer({
    id,
    description: 'Whether the conversation ended with a run that failed, waits, or gave no answer.',
    kind: 'code',
    level: 'conversation',
    better: 'lower',
    passAt,
    identity: { scorer: 'abandoned' },
    needs: ['output'],
    readsHandOver: true,
    mayLack: ['output'],
    assess: (_view, { handOver }, { run }) => {
      const why = whyAbandoned(run)
      if (why !== undefined) {
        return abandoned(run, why)
      }
      const isAnswered = run.output !== undefined && run.output.trim() !== ''
      const last = run.conversation?.runs.at(-1)
      const ending = isAnswered || last === undefined ? undefined : callEndingOf(last, handOver)
      if (ending !== undefined) {
        const how = ending.isHandOver ? 'handed the user over to a person' : 'ended in a call that succeeded'
        return { status: 'scored', value: 0, explanation: contentFree(`The last run ${how}.`) }
      }
      if (run.output === undefined) {
        const missing = skipWithoutFact(run, 'output', id)
        if (missing !== undefined) return missing
      }
      return isAnswered
        ? { status: 'scored', value: 0, explanation: contentFree('The last run gave an answer.') }
        : abandoned(run, 'gave no answer')
    },
  })
}

function abandoned({ conversation }: AgentRun, why: string): ScoredVerdict {
  const index = (conversation?.turns.length ?? 0) - 1
  const places = index < 0 ? [] : [{ in: 'turn', index } as const]
  return {
    status: 'scored',
    value: 1,
    explanation: contentFree(`The last run ${why}.`),
    findings: [{ about: 'run', verdict: 'abandoned', rating: 'bad', text: 'The last run', reason: why, places }],
  }
}

function whyAbandoned({ status, conversation }: AgentRun): string | undefined {
  if (status === 'error') return 'failed'
  if (status === 'aborted') return 'was stopped'
  const isWaiting = conversation?.runs.at(-1)?.toolCalls.some((call) => CALL_STATUS[call.status].waits) === true
  return status === 'waiting' || isWaiting ? 'waits for a tool or an approval' : undefined
}
