import { readFileSync } from 'node:fs'

import { parseCases } from '../cases/agent-case.ts'
import type { AgentCase } from '../cases/agent-case.ts'
import { readOptions } from '../scorers/read-options.ts'
import { caseScorers, givenOf, isChecked, leavesOpen, unreadAnswers } from '../cases/case-scorers.ts'
import { ScoreUnavailableError } from '../scoring/score-unavailable-error.ts'
import { formatValue } from '../scoring/format-value.ts'
import type { Scorer } from '../scoring/scorer.ts'

/** What the agent is asked. */
export interface AskedCase {
  /** The question. */
  readonly input: string
  /** The history and the question, in the form that the AI SDK, Mastra and OpenAI take. */
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[]
  /** The whole case. */
  readonly case: AgentCase
}

/** Options of `testCases`. */
export interface CaseTestOptions {
  /** What declares a test: `it` of vitest, `test` of node:test. */
  readonly test: (name: string, run: () => Promise<void>) => unknown
  /** Asks the agent. It returns what `.run()` of a scorer takes as `output`: text, messages, or the result of an AI SDK or Mastra agent. */
  readonly agent: (asked: AskedCase) => unknown
  /** Scorers that must pass, besides the expected answer and trajectory. @default none */
  readonly scorers?: readonly Scorer[]
  /** How often each question is asked. Every try must pass. @default 1 */
  readonly tries?: number
}

/**
 * Declares a test for each case of a file that `spanscore cases` wrote: the agent is asked again, and the answer must pass. A scorer that
 * skips the run is left out, unless its judge was not asked, or it compares with what the case expects. Something must be scored.
 *
 * @example
 * ```ts
 * import { testCases } from 'spanscore/testing'
 * import { it } from 'vitest'
 *
 * testCases('evals/cases.jsonl', {
 *   test: (name, run) => it(name, { timeout: 60_000 }, run),
 *   agent: ({ messages }) => agent.generate({ messages: [...messages] }),
 *   scorers: [createToolErrorsScorer()],
 * })
 * ```
 *
 * @throws TypeError if a line of the file is not a case, an option is unknown, or `tries` is not a whole number from 1 on
 */
export function testCases(file: string, options: CaseTestOptions): void {
  const known = { test: true, agent: true, scorers: true, tries: true } as const
  const { test, agent, scorers = [], tries = 1 } = readOptions('testCases', options, known)
  if (!Number.isInteger(tries) || tries < 1)
    throw new TypeError(`tries: expected a whole number from 1 on, got ${tries}`)
  const cases = parseCases(readFileSync(file, 'utf8'), file)
  const unread = unreadAnswers(cases, scorers)
  if (unread !== undefined) process.emitWarning(`testCases: ${unread}.`)
  const ids = new Set(scorers.map(({ id }) => id))
  const readsAnswers = scorers.some(({ needs }) => needs.includes('groundTruth'))
  for (const each of cases) {
    if (!isChecked(each, ids, readsAnswers))
      process.emitWarning(`testCases: nothing checks what was wrong in case ${each.id}: fill in "expected".`)
    const all = [...scorers, ...caseScorers([each], () => each)]
    test(`${each.input.replaceAll(/\s+/g, ' ').slice(0, 80)} (${each.id})`, () => checkTries(each, agent, all, tries))
  }
}

async function checkTries(
  each: AgentCase,
  agent: CaseTestOptions['agent'],
  scorers: readonly Scorer[],
  tries: number,
): Promise<void> {
  const failed: string[] = []
  for (let index = 0; index < tries; index++) {
    const faults = await faultsOf(each, agent, scorers).catch((cause: unknown) => {
      const place = tries === 1 ? '' : ` in try ${index + 1} of ${tries}`
      throw new Error(`Case ${each.id} ended${place} with ${formatValue(cause, 500)}`, { cause })
    })
    if (faults.length > 0) failed.push(faults.join('\n'))
  }
  if (failed.length === 0) return
  const count = tries === 1 ? '' : ` in ${failed.length} of ${tries} tries`
  throw new Error(`Case ${each.id} did not pass${count}.\n${[...new Set(failed)].join('\n')}`)
}

/** Asks the agent once. Returns what is wrong with the answer. */
async function faultsOf(
  each: AgentCase,
  agent: CaseTestOptions['agent'],
  scorers: readonly Scorer[],
): Promise<readonly string[]> {
  const messages = [...each.history.map(({ role, content }) => ({ role: roleOf(role), content })), question(each)]
  const output = await agent({ input: each.input, messages, case: each })
  if (output === undefined || output === null) return [`the agent returned ${output}, expected its answer`]
  const given = { input: messages, output, ...givenOf(each) }
  const faults: string[] = []
  const unscored: string[] = []
  for (const scorer of scorers) {
    try {
      const { score, reason = '', evaluation } = await scorer.run(given)
      if (evaluation.score.status === 'scored' && evaluation.score.label === 'fail')
        faults.push(`${scorer.id} ${score}: ${reason}`)
    } catch (error) {
      if (!(error instanceof ScoreUnavailableError)) throw error
      const { id, needs } = scorer
      const open = { id, reason: error.code, readsAnswers: needs.includes('groundTruth') }
      if (error.evaluation.score.status === 'failed' || leavesOpen(each, open)) faults.push(`${id}: ${error.message}`)
      unscored.push(`${scorer.id}: ${error.code}`)
    }
  }
  if (unscored.length === scorers.length)
    faults.push(`nothing was scored${unscored.length === 0 ? '' : ` (${unscored.join(', ')})`}`)
  return faults
}

const roleOf = (role: string): 'user' | 'assistant' => (role === 'assistant' ? 'assistant' : 'user')

const question = ({ input }: AgentCase) => ({ role: 'user' as const, content: input })
