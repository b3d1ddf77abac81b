import type { Finding } from '../../model/finding.ts'
import { contentFree, explain, joinExplanations } from '../../model/explanation.ts'
import type { Explanation } from '../../model/explanation.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import type { ToolCallInfo } from '../../scoring/given/calls.ts'
import { PassedRun, inputMessages, outputMessages } from '../../scoring/given/run.ts'
import type { Scorer, ScoringContext } from '../../scoring/scorer.ts'
import { expectedTools } from './expected-tools.ts'
import { KnownTools } from './known-tools.ts'
import { listNames } from './code-scorer.ts'
import { expectCount, explainUncounted, isCounted } from './counted-calls.ts'
import type { CountOption } from './counted-calls.ts'
import { expectReturned } from '../expect-returned.ts'
import { areTexts, expectFlags, expectOption, readOptions } from '../read-options.ts'
import type { KeysOf } from '../read-options.ts'
import { scorerKeys } from '../scorer-options.ts'
import type { ScorerOptions } from '../scorer-options.ts'
import { skip } from '../skip.ts'

/** Options of `createToolCallAccuracyScorerCode`: `expectedTool`, or `expectedToolOrder`, or both. */
export interface ToolCallAccuracyCodeOptions extends ScorerOptions, CountOption {
  /** The tool that must be called, or a function that returns it for each run. Ignored if an order is given. */
  readonly expectedTool?: string | ((run: AgentRun) => string | undefined)
  /** With one tool: no other call is allowed. With an order: exactly these calls. @default false */
  readonly strictMode?: boolean
  /** The tools that must be called, in this order, or a function that returns them for each run. */
  readonly expectedToolOrder?: readonly string[] | ((run: AgentRun) => readonly string[] | undefined)
}

const KNOWN: KeysOf<ToolCallAccuracyCodeOptions> = {
  ...scorerKeys,
  expectedTool: true,
  strictMode: true,
  expectedToolOrder: true,
  count: true,
}

/** The findings of `createToolCallAccuracyScorerCode` before it scores. */
export interface ToolCallAccuracyPreprocess {
  /** The option of this name. */
  readonly expectedTool?: string
  /** The tools of the calls that count, in order. */
  readonly actualTools: readonly string[]
  /** The option of this name. */
  readonly strictMode: boolean
  /** The option of this name. */
  readonly expectedToolOrder?: readonly string[]
  /** Whether any call counts. */
  readonly hasToolCalls: boolean
  /** By `expectedTool`, even if an order decides; false without it. */
  readonly correctToolCalled: boolean
  /** `null` without an order. */
  readonly correctOrderCalled: boolean | null
  /** Every call that counts. */
  readonly toolCallInfos: readonly ToolCallInfo[]
}

/**
 * Tool call accuracy, by code: 1 if the expected tool was called, or the expected tools in their order; otherwise 0.
 *
 * Names are compared exactly. Without calls the score is 0. With an order, `strictMode` requires exactly these calls; otherwise the order
 * must be a subsequence of the calls, including repeats. Without an order, `strictMode` requires exactly one call. The attribute
 * `spanscore.expected_tools` of the agent span takes precedence over the options. Runs without an expectation, or without offered tools,
 * are `skipped: not-applicable`.
 *
 * @example
 * ```ts
 * const scorer = createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' })
 * const { score } = await scorer.run({
 *   input: 'Is it raining in Oslo?',
 *   output: { role: 'assistant', content: [{ type: 'tool-call', toolCallId: '1', toolName: 'weather-tool', args: {} }] },
 * })
 * // score: 1
 * ```
 *
 * @throws Error if neither `expectedTool` nor a non-empty `expectedToolOrder` is given, TypeError if an option is
 * invalid or unknown
 */
export function createToolCallAccuracyScorerCode(
  options: ToolCallAccuracyCodeOptions,
): Scorer<ToolCallAccuracyPreprocess> {
  const factory = 'createToolCallAccuracyScorerCode'
  // `undefined` options count as empty, so that the error is the one for missing options.
  const given = options === undefined ? {} : readOptions(factory, options, KNOWN)
  const { id = 'tool_call_accuracy', passAt, ...more } = given
  const { strictMode = false, expectedTool, expectedToolOrder, count: counted = 'all' } = more
  if (!expectedTool && !(typeof expectedToolOrder === 'function' || expectedToolOrder?.length)) {
    throw new Error('Either expectedTool or expectedToolOrder must be provided')
  }
  expectNames(factory, expectedTool, expectedToolOrder)
  expectFlags(factory, { strictMode })
  expectCount(factory, counted)
  // Names from a function or an attribute may be content of the run.
  const configured = new Set([
    ...(typeof expectedTool === 'string' ? [expectedTool] : []),
    ...(Array.isArray(expectedToolOrder) ? expectedToolOrder : []),
  ])
  const known = new KnownTools(id, configured)
  return defineScorer<ToolCallAccuracyPreprocess>({
    id,
    description: 'Whether the expected tool was called, or the expected tools in their order.',
    kind: 'code',
    passAt,
    identity: {
      scorer: 'tool_call_accuracy',
      expectedTool,
      expectedToolOrder,
      strictMode,
      ...(counted !== 'all' && { count: counted }),
    },
    inline: true,
    needs: ['toolNames', 'availableTools'],
    mayLack: ['availableTools'],
    assess: (run, context, reads) => {
      const lacking = lackingSide(context)
      if (lacking !== undefined) {
        const message = `${id}: Input and output messages cannot be null or empty.`
        return skip(lacking === 'output' ? 'no-output' : 'no-content', contentFree(message))
      }
      const expected = expectedTools(reads.run) ?? {
        tool:
          typeof expectedTool === 'function'
            ? expectReturned(expectedTool(run), id, NAME, (value) => typeof value === 'string')
            : expectedTool,
        order:
          typeof expectedToolOrder === 'function'
            ? expectReturned(expectedToolOrder(run), id, NAMES, areTexts)
            : expectedToolOrder,
      }
      const order = expected.order?.length ? expected.order : undefined
      if (expected.tool === undefined && order === undefined) {
        return skip('not-applicable', explain`${contentFree(id)}: no tool is expected of this run.`)
      }
      const infos = reads.run instanceof PassedRun ? reads.run.toolCallInfos : []
      const all = infos.length > 0 ? infos : toInfos(run)
      if (all.length === 0 && run.availableTools?.length === 0) {
        return skip('not-applicable', explain`${contentFree(id)}: the run was offered no tools.`)
      }
      // Which calls succeeded takes reading them, so it is only asked if it matters.
      const at = [...all.keys()].filter((index) => {
        const call = counted === 'all' ? undefined : run.toolCalls[index]
        return call === undefined || isCounted(call, counted)
      })
      const calls = at.flatMap((index) => all[index] ?? [])
      const uncounted = counted === 'all' ? explain`` : explainUncounted(run.toolCalls, counted)
      const found = lookAt(calls, expected.tool, order, strictMode)
      const value = isAccurate(found) ? 1 : 0
      const notOffered = known.check(reads.run, found.actualTools, order ?? [expected.tool ?? ''])
      if ('status' in notOffered) return notOffered
      return {
        status: 'scored',
        value,
        explanation: explain`${explainCalls(found, value, configured)}${uncounted}${notOffered}`,
        findings: value === 1 ? [] : findingsOf(found, at),
        preprocessStepResult: found,
      }
    },
  })
}

const NAME = 'expectedTool to be the name of a tool'
const NAMES = 'expectedToolOrder to be a list of names'

function expectNames(factory: string, tool: unknown, order: unknown): void {
  const isName = tool === undefined || typeof tool === 'string' || typeof tool === 'function'
  expectOption(isName, factory, `${NAME}, or a function`, tool)
  const areNames = order === undefined || typeof order === 'function' || areTexts(order)
  expectOption(areNames, factory, `${NAMES}, or a function`, order)
}

function lookAt(
  toolCallInfos: readonly ToolCallInfo[],
  expectedTool: string | undefined,
  expectedToolOrder: readonly string[] | undefined,
  strictMode: boolean,
): ToolCallAccuracyPreprocess {
  const actualTools = toolCallInfos.map(({ toolName }) => toolName)
  const called = expectedTool !== undefined && actualTools.includes(expectedTool)
  return {
    ...(expectedTool !== undefined && { expectedTool }),
    actualTools,
    strictMode,
    ...(expectedToolOrder !== undefined && { expectedToolOrder }),
    hasToolCalls: actualTools.length > 0,
    correctToolCalled: strictMode ? called && actualTools.length === 1 : called,
    correctOrderCalled:
      expectedToolOrder === undefined
        ? null
        : strictMode
          ? isSame(expectedToolOrder, actualTools)
          : isSubsequence(expectedToolOrder, actualTools),
    toolCallInfos,
  }
}

/**
 * Expected tools that were not called, and in strict mode calls of other tools.
 *
 * @param at the index in `run.toolCalls` of each of `actualTools`
 */
function findingsOf(
  {
    expectedTool,
    expectedToolOrder: expected = [expectedTool ?? ''],
    actualTools,
    strictMode,
  }: ToolCallAccuracyPreprocess,
  at: readonly number[],
): readonly Finding[] {
  const lacking = [...new Set(expected)].filter((name) => !actualTools.includes(name))
  const others = actualTools.flatMap((name, index) => (strictMode && !expected.includes(name) ? [{ name, index }] : []))
  return [
    ...lacking.map((text): Finding => ({ about: 'call', verdict: 'missing', rating: 'bad', text })),
    ...others.map(({ name: text, index }): Finding => ({
      about: 'call',
      verdict: 'unexpected',
      rating: 'bad',
      text,
      places: [{ in: 'call', index: at[index] ?? index }],
    })),
  ]
}

function isAccurate({ hasToolCalls, correctOrderCalled, correctToolCalled }: ToolCallAccuracyPreprocess): boolean {
  return hasToolCalls && (correctOrderCalled ?? correctToolCalled)
}

function explainCalls(found: ToolCallAccuracyPreprocess, value: number, configured: ReadonlySet<string>): Explanation {
  const { expectedTool, expectedToolOrder, strictMode, actualTools } = found
  const only = contentFree(strictMode ? ' and nothing else' : '')
  const wanted =
    expectedToolOrder === undefined
      ? explain`${listNames([expectedTool ?? ''], configured)}${only}`
      : explain`${joinNames(expectedToolOrder, configured)} in this order${only}`
  const called =
    actualTools.length === 0 ? explain`no tool was called` : explain`called: ${listNames(actualTools, configured)}`
  const verdict = contentFree(value === 1 ? 'As expected' : 'Not as expected')
  return explain`${verdict}: wanted ${wanted}; ${called}.`
}

function joinNames(names: readonly string[], configured: ReadonlySet<string>): Explanation {
  return joinExplanations(
    names.map((name) => listNames([name], configured)),
    ', ',
  )
}

function toInfos(run: AgentRun): ToolCallInfo[] {
  let [messageIndex, invocationIndex] = [-1, 0]
  return run.toolCalls.map(({ name, id, step }) => {
    // Calls of one step are in the model's order.
    invocationIndex = step === messageIndex ? invocationIndex + 1 : 0
    messageIndex = step
    return { toolName: name, toolCallId: id ?? '', messageIndex, invocationIndex }
  })
}

function isSame(expected: readonly string[], actual: readonly string[]): boolean {
  return expected.length === actual.length && expected.every((name, index) => name === actual[index])
}

function isSubsequence(expected: readonly string[], actual: readonly string[]): boolean {
  let found = 0
  for (const name of actual) if (name === expected[found]) found++
  return found >= expected.length
}

/** The message form requires messages on both sides, but a run from spans may have no recorded content. */
function lackingSide({ given }: ScoringContext): 'input' | 'output' | undefined {
  if (given === undefined) return undefined
  if (isEmpty(outputMessages(given.output))) return 'output'
  return isEmpty(inputMessages(given.input)) ? 'input' : undefined
}

function isEmpty(messages: unknown): boolean {
  if (messages === undefined || messages === null) return true
  if (typeof messages === 'string') return messages.trim() === ''
  return Array.isArray(messages) && messages.length === 0
}
