import type { AgentRun } from '../../model/agent-run.ts'
import { CALL_STATUS, hasSucceeded } from '../../model/call-status.ts'
import { contentFree, explain } from '../../model/explanation.ts'
import type { Finding } from '../../model/finding.ts'
import { skipWithoutAllCalls } from '../../scoring/absence.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import { historyOf, lacksEarlierCalls } from '../../scoring/history.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { isRecord } from '../../spans/json.ts'
import { list, listNames } from './code-scorer.ts'
import { KnownTools } from './known-tools.ts'
import { areTexts, expectOption, expectTexts, readOptions } from '../read-options.ts'
import type { KeysOf } from '../read-options.ts'
import { expectLevel, scorerKeys } from '../scorer-options.ts'
import type { LevelOption, ScorerOptions } from '../scorer-options.ts'
import { skip } from '../skip.ts'

/** Options of `createToolPolicyScorer`: at least one rule. Calls that wait, were rejected or did not run breach none. */
export interface ToolPolicyOptions extends ScorerOptions, LevelOption {
  /** The only tools that may be called. @default all */
  readonly allowed?: readonly string[]
  /** Tools that may not be called. @default none */
  readonly forbidden?: readonly string[]
  /**
   * By tool, the tools that must all have succeeded before it is called. Calls of one step are made at the same time. In a run, the calls of
   * earlier turns in its history count, too.
   *
   * @default none
   */
  readonly before?: Readonly<Record<string, readonly string[]>>
  /** By tool, how often it may be called. @default any number of times */
  readonly atMost?: Readonly<Record<string, number>>
}

const KNOWN: KeysOf<ToolPolicyOptions> = {
  ...scorerKeys,
  level: true,
  allowed: true,
  forbidden: true,
  before: true,
  atMost: true,
}

/**
 * Tool policy, by code: 1 if the calls keep every rule, else 0. Needs no expected calls.
 *
 * With `level: 'conversation'`, the calls of all runs are checked together. If a call is too early, and earlier turns may have had calls that
 * the history does not show, `skipped: no-content`. A run that waits, or failed before its model could choose, has a score only if a rule is
 * breached.
 *
 * @example
 * ```ts
 * const scorer = createToolPolicyScorer({
 *   forbidden: ['delete_user'],
 *   before: { refund: ['verify'] },
 *   atMost: { refund: 1 },
 * })
 * ```
 *
 * @throws TypeError if there is no rule, or an option is invalid or unknown
 */
export function createToolPolicyScorer(options: ToolPolicyOptions): Scorer {
  const factory = 'createToolPolicyScorer'
  const { id = 'tool_policy', level = 'run', passAt, ...rules } = readOptions(factory, options, KNOWN)
  const { allowed, forbidden = [], before = {}, atMost = {} } = rules
  expectLevel(factory, level)
  if (allowed !== undefined) expectTexts(factory, 'allowed', allowed)
  expectTexts(factory, 'forbidden', forbidden)
  const isBefore = isRecord(before) && Object.values(before).every((tools) => areTexts(tools) && tools.length > 0)
  expectOption(isBefore, factory, 'before to be lists of tools by tool, such as { refund: ["verify"] }', before)
  const isAtMost = isRecord(atMost) && Object.values(atMost).every((most) => Number.isInteger(most) && most >= 0)
  expectOption(isAtMost, factory, 'atMost to be whole numbers by tool, such as { refund: 1 }', atMost)
  expectOption(Object.keys(rules).length > 0, factory, 'at least one of allowed, forbidden, before, atMost', options)
  const needed = [...new Set([...Object.keys(before), ...Object.values(before).flat(), ...Object.keys(atMost)])]
  const configured = new Set([...(allowed ?? []), ...forbidden, ...needed])
  const known = new KnownTools(id, configured)
  return defineScorer({
    id,
    description: 'Whether the calls keep the rules for tools.',
    kind: 'code',
    level,
    passAt,
    identity: { scorer: 'tool_policy', allowed, forbidden, before, atMost },
    inline: true,
    needs: ['toolNames', ...(Object.keys(before).length > 0 ? (['input'] as const) : [])],
    mayLack: ['toolCalls', 'input'],
    assess: (_view, _context, { run }) => {
      const names = run.toolCalls.map(({ name }) => name)
      const misspelt = known.check(run, names, needed)
      if ('status' in misspelt) return misspelt
      const findings = breachesOf(run, rules)
      const isSure = findings.some(({ verdict }) => verdict !== 'too_early')
      // Calls that are not recorded, or not made yet, may breach a rule or be what another one needs.
      const unknown = isSure ? undefined : skipWithoutAllCalls(run, id)
      if (unknown !== undefined) return unknown
      if (!isSure && findings.length > 0 && lacksEarlierCalls(run)) {
        return skip(
          'no-content',
          contentFree(`${id}: a call was too early, unless one that it needs was in a turn that is not shown.`),
        )
      }
      const named = findings.map(({ text, verdict }) => {
        return explain`${listNames([text], configured)} ${contentFree(verdict.replaceAll('_', ' '))}`
      })
      return {
        status: 'scored',
        value: findings.length === 0 ? 1 : 0,
        explanation: findings.length === 0 ? contentFree('No rule is breached.') : explain`Breached: ${list(named)}.`,
        findings,
      }
    },
  })
}

/** What the calls breach, in their order. Calls that wait, were rejected or did not run breach nothing. */
function breachesOf(run: AgentRun, { allowed, forbidden = [], before = {}, atMost = {} }: Rules): readonly Finding[] {
  const made = run.toolCalls
    .map(({ name, status, step }, index) => ({ name, status, step, index }))
    .filter(({ status }) => CALL_STATUS[status].mayHaveActed)
  const earlier = run.conversation === undefined ? succeededBefore(run) : new Set<string>()
  const counts = new Map<string, number>()
  return made.flatMap(({ name, index, step }) => {
    const nth = (counts.get(name) ?? 0) + 1
    counts.set(name, nth)
    const isDone = (tool: string): boolean =>
      earlier.has(tool) ||
      // Without model calls, nothing shows which calls were made at the same time.
      made.some(
        (one) =>
          one.name === tool && hasSucceeded(one) && (run.steps.length === 0 ? one.index < index : one.step < step),
      )
    const lacking = (Object.hasOwn(before, name) ? (before[name] ?? []) : []).filter((tool) => !isDone(tool))
    const most = Object.hasOwn(atMost, name) ? (atMost[name] ?? Infinity) : Infinity
    const breaches = {
      not_allowed: allowed?.includes(name) === false && 'It is not among the allowed tools.',
      forbidden: forbidden.includes(name) && 'It is forbidden.',
      too_early: lacking.length > 0 && `Before it, ${lacking.join(', ')} had not succeeded.`,
      too_often: nth > most && `It was called more than ${most === 1 ? 'once' : `${most} times`}.`,
    }
    return Object.entries(breaches).flatMap(([verdict, reason]): Finding[] =>
      reason === false
        ? []
        : [{ about: 'call', verdict, rating: 'bad', text: name, reason, places: [{ in: 'call', index }] }],
    )
  })
}

type Rules = Pick<ToolPolicyOptions, 'allowed' | 'forbidden' | 'before' | 'atMost'>

/** The tools that succeeded in the earlier turns of the history. */
function succeededBefore(run: AgentRun): ReadonlySet<string> {
  const names = new Map<string | undefined, string>()
  const succeeded = new Set<string>()
  for (const part of historyOf(run).flatMap(({ parts }) => parts)) {
    if (part.type === 'tool_call') names.set(part.id, part.name)
    const name = part.type === 'tool_call_response' && part.isError !== true ? names.get(part.id) : undefined
    if (name !== undefined) succeeded.add(name)
  }
  return succeeded
}
