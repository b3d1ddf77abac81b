import type { AgentRun, ToolCall } from '../../model/agent-run.ts'
import { contentFree, explain } from '../../model/explanation.ts'
import type { Explanation } from '../../model/explanation.ts'
import type { Finding } from '../../model/finding.ts'
import { skipWithoutFact } from '../../scoring/absence.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import { historyOf, lacksEarlierCalls } from '../../scoring/history.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { isRecord } from '../../spans/json.ts'
import { count, list, listNames } from './code-scorer.ts'
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

/** A call, and its index in `run.toolCalls`. */
interface Made {
  readonly call: ToolCall
  readonly index: number
}

/** What a call breaches, and what it lacks. */
interface Breach extends Made {
  readonly verdict: 'not_allowed' | 'forbidden' | 'too_early' | 'too_often'
  readonly reason: string
}

/**
 * Tool policy, by code: 1 if the calls keep every rule, else 0. Needs no expected calls.
 *
 * With `level: 'conversation'`, the calls of all runs are checked together. If a call is too early, and earlier turns may have had calls that
 * the history does not show, `skipped: no-content`.
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
      const made = run.toolCalls.flatMap((call, index) => (hasRun(call) ? [{ call, index }] : []))
      const breaches = [
        ...made.flatMap(({ call, index }): Breach[] => [
          ...(allowed?.includes(call.name) === false
            ? [{ call, index, verdict: 'not_allowed' as const, reason: 'It is not among the allowed tools.' }]
            : []),
          ...(forbidden.includes(call.name)
            ? [{ call, index, verdict: 'forbidden' as const, reason: 'It is forbidden.' }]
            : []),
        ]),
        ...tooEarly(run, made, before),
        ...tooOften(made, atMost),
      ].toSorted((one, other) => one.index - other.index)
      const isSure = breaches.some(({ verdict }) => verdict !== 'too_early')
      // Calls that were not recorded may breach a rule, or be what another one needs.
      const unknown = isSure ? undefined : skipWithoutFact(run, 'toolCalls', id)
      if (unknown !== undefined) return unknown
      if (!isSure && breaches.length > 0 && mayLackEarlier(run)) {
        return skip(
          'no-content',
          contentFree(`${id}: a call was too early, unless one that it needs was in a turn that is not shown.`),
        )
      }
      return {
        status: 'scored',
        value: breaches.length === 0 ? 1 : 0,
        explanation: explainBreaches(breaches, made.length, configured),
        findings: breaches.map(({ call, index, verdict, reason }): Finding => ({
          about: 'call',
          verdict,
          rating: 'bad',
          text: call.name,
          reason,
          places: [{ in: 'call', index }],
        })),
      }
    },
  })
}

/** Whether calls of earlier turns may be missing from the history, or from the conversation. */
function mayLackEarlier(run: AgentRun): boolean {
  const { conversation } = run
  if (conversation === undefined) return lacksEarlierCalls(run)
  return conversation.earlier.length > 0 || conversation.missing.length > 0
}

function hasRun({ status }: ToolCall): boolean {
  return status !== 'waiting' && status !== 'rejected' && status !== 'not-executed'
}

/** Calls before which a tool that they need had not succeeded. */
function tooEarly(run: AgentRun, made: readonly Made[], before: NonNullable<ToolPolicyOptions['before']>): Breach[] {
  const earlier = run.conversation === undefined ? succeededBefore(run) : new Set<string>()
  // Without model calls, nothing shows which calls were made at the same time.
  const isEarlier = (one: Made, other: Made): boolean =>
    run.steps.length === 0 ? one.index < other.index : one.call.step < other.call.step
  return made.flatMap((each): Breach[] => {
    const needed = Object.hasOwn(before, each.call.name) ? (before[each.call.name] ?? []) : []
    const lacking = needed.filter(
      (tool) =>
        !earlier.has(tool) &&
        !made.some((one) => one.call.name === tool && one.call.status === 'ok' && isEarlier(one, each)),
    )
    const reason = `Before it, ${lacking.join(', ')} had not succeeded.`
    return lacking.length === 0 ? [] : [{ ...each, verdict: 'too_early', reason }]
  })
}

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

function tooOften(made: readonly Made[], atMost: NonNullable<ToolPolicyOptions['atMost']>): Breach[] {
  return Object.entries(atMost).flatMap(([name, most]) => {
    const reason = `It was called more than ${most === 1 ? 'once' : `${most} times`}.`
    const beyond = made.filter(({ call }) => call.name === name).slice(most)
    return beyond.map((each): Breach => ({ ...each, verdict: 'too_often', reason }))
  })
}

function explainBreaches(breaches: readonly Breach[], calls: number, configured: ReadonlySet<string>): Explanation {
  if (breaches.length === 0) return explain`${count(calls, 'call')} without a breach.`
  const named = breaches.map(({ call, verdict, reason }) => {
    const name = listNames([call.name], configured)
    return explain`${name} ${contentFree(verdict.replaceAll('_', ' '))} (${contentFree(reason.slice(0, -1))})`
  })
  return explain`Breached: ${list(named)}.`
}
