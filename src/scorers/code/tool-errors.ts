import { contentFree, explain } from '../../model/explanation.ts'
import type { Explanation } from '../../model/explanation.ts'
import type { ToolCall } from '../../model/agent-run.ts'
import { CALL_STATUS, hasFailed, hasSucceeded } from '../../model/call-status.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { count } from './code-scorer.ts'
import { expectFlags, readOptions } from '../read-options.ts'
import type { KeysOf } from '../read-options.ts'
import { expectLevel, scorerKeys } from '../scorer-options.ts'
import type { LevelOption, ScorerOptions } from '../scorer-options.ts'
import { skip, skipWithoutCalls } from '../skip.ts'

/** Options of `createToolErrorsScorer`. */
export interface ToolErrorsOptions extends ScorerOptions, LevelOption {
  /** Whether a failed call counts even if a later call of the same tool succeeded. @default true */
  readonly countRecovered?: boolean
}

const KNOWN: KeysOf<ToolErrorsOptions> = { ...scorerKeys, level: true, countRecovered: true }

/** A failed call. */
interface FailedCall {
  /** Its index in `run.toolCalls`. */
  readonly index: number
  /** The tool that failed. */
  readonly name: string
  /** The text of the error. */
  readonly error?: string
  /** Whether a later call of the same tool succeeded. */
  readonly recovered: boolean
}

/**
 * Tool errors, by code: the share of executed or refused calls that failed. Lower is better; passes at .3.
 *
 * Details and explanation name the failed calls, and say whether the run recovered, because a later call of the same tool succeeded. Calls
 * with an unknown outcome, and calls that wait for a client, do not count; if none is left, the score is `skipped`.
 *
 * @example
 * ```ts
 * const scorer = createToolErrorsScorer({ countRecovered: false })
 * ```
 *
 * @throws TypeError if an option is invalid or unknown
 */
export function createToolErrorsScorer(options: ToolErrorsOptions = {}): Scorer {
  const factory = 'createToolErrorsScorer'
  const { id = 'tool_errors', level = 'run', countRecovered = true, passAt } = readOptions(factory, options, KNOWN)
  expectLevel(factory, level)
  expectFlags(factory, { countRecovered })
  return defineScorer({
    id,
    description: 'Share of tool calls that failed.',
    kind: 'code',
    level,
    better: 'lower',
    passAt,
    identity: { scorer: 'tool_errors', countRecovered },
    inline: true,
    needs: ['toolNames'],
    mayLack: ['toolCalls'],
    assess: (run, _context, reads) => {
      const none = skipWithoutCalls(reads)
      if (none !== undefined) return none
      const ended = run.toolCalls.flatMap((call, index) =>
        hasSucceeded(call) || countsAsFailed(call) ? [{ call, index }] : [],
      )
      if (ended.length === 0) {
        if (run.toolCalls.every(({ status }) => !CALL_STATUS[status].mayHaveActed && !CALL_STATUS[status].isRefused))
          return skip(
            'not-applicable',
            contentFree(`${id}: no call was carried out: each waits, or a person refused it.`),
          )
        return skip(
          'no-content',
          explain`${contentFree(id)}: the spans do not show how the ${count(run.toolCalls.length, 'call')} ended.`,
        )
      }
      const lastGood = new Map<string, number>()
      for (const { call, index } of ended) if (hasSucceeded(call)) lastGood.set(call.name, index)
      const failed = ended.flatMap(({ call, index }): FailedCall[] => {
        if (!countsAsFailed(call)) return []
        const recovered = (lastGood.get(call.name) ?? -1) > index
        const error = call.error?.message ?? call.error?.type
        return [{ index, name: call.name, ...(error !== undefined && { error: error.slice(0, 200) }), recovered }]
      })
      const recovered = failed.filter((call) => call.recovered).length
      const counted = countRecovered ? failed.length : failed.length - recovered
      return {
        status: 'scored',
        value: counted / ended.length,
        explanation: explainErrors(failed, recovered, ended.length),
        findings: failed.map(({ name, error = '', ...one }) => ({
          about: 'call',
          verdict: one.recovered ? 'recovered' : 'failed',
          rating: one.recovered ? 'open' : 'bad',
          text: name,
          reason: error,
          places: [{ in: 'result', index: one.index }],
        })),
        details: { calls: ended.length, recovered },
      }
    },
  })
}

/** A refused call (`not-executed` with an error) failed; one that a person refused, or that waits, did not. */
function countsAsFailed(call: ToolCall): boolean {
  return hasFailed(call) || (CALL_STATUS[call.status].isRefused && call.error !== undefined)
}

function explainErrors(failed: readonly FailedCall[], recovered: number, ended: number): Explanation {
  const [first] = failed
  if (first === undefined) return explain`None of ${count(ended, 'call')} failed.`
  const example = first.error === undefined ? first.name : `${first.name} (${first.error})`
  return explain`${failed.length} of ${count(ended, 'call')} failed, and the run recovered from ${recovered} of them; the first: ${example}.`
}
