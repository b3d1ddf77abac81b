import { contentFree, explain, joinExplanations } from '../../model/explanation.ts'
import type { Explanation } from '../../model/explanation.ts'
import type { Skipped } from '../../model/score.ts'
import { skipWithoutAnswer } from '../../scoring/absence.ts'
import type { Reads } from '../../scoring/reads.ts'
import { skip } from '../skip.ts'

/** Longer answers are not checked: code scorers run in the application's own thread. */
const MAX_ANSWER_LENGTH = 1_000_000

/** The run's answer, or why there is none that can be scored. */
export function answerOf({ run, scorerId: id }: Reads): string | Skipped {
  const { output } = run
  if (output === undefined) return skipWithoutAnswer(run, id)
  if (output.length <= MAX_ANSWER_LENGTH) return output
  const message = explain`${contentFree(id)}: the answer has ${output.length} characters, and at most ${MAX_ANSWER_LENGTH} are read.`
  return skip('no-content', message)
}

/** `1 call`, `3 calls`. */
export function count(number: number, noun: string): Explanation {
  return explain`${number} ${contentFree(noun)}${contentFree(number === 1 ? '' : 's')}`
}

/** Maximum number of items of a list that are named. */
const MAX_LISTED = 5

/** Lists at most five items. */
export function list(items: readonly (string | Explanation)[]): Explanation {
  const shown = items.slice(0, MAX_LISTED).map((item) => (typeof item === 'string' ? explain`${item}` : item))
  return withRest(shown, items.length)
}

/** Lists at most five tool names. Names that the developer wrote are not content; names that a model invented are. */
export function listNames(names: readonly string[], configured: ReadonlySet<string>): Explanation {
  const shown = names.slice(0, MAX_LISTED).map((name) => (configured.has(name) ? contentFree(name) : explain`${name}`))
  return withRest(shown, names.length)
}

function withRest(shown: readonly Explanation[], total: number): Explanation {
  const joined = joinExplanations(shown, ', ')
  return total <= MAX_LISTED ? joined : explain`${joined} and ${total - MAX_LISTED} more`
}
