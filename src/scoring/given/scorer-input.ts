import { toConversationRun } from '../../conversations/conversation-run.ts'
import { joinMembers } from '../../conversations/join-members.ts'
import { toMember } from '../../conversations/member.ts'
import { formatValue } from '../format-value.ts'
import type { Scorer, ScorerInput } from '../scorer.ts'
import { toRunInput } from './run-input.ts'
import type { RunInput } from './run-input.ts'

/**
 * Turns what was passed to `.run()` into the run that a scorer is asked about: for a scorer of conversations, the runs of one.
 *
 * @param anyForm as of `toRunInput`
 * @throws TypeError if the value does not fit the scorer's level
 */
export function toScorerInput(
  { id, level }: Pick<Scorer, 'id' | 'level'>,
  input: ScorerInput | readonly ScorerInput[],
  anyForm = false,
): RunInput {
  if (level !== 'conversation') {
    if (!isList(input)) return toRunOfLevel(level, toRunInput(input, anyForm))
    throw new TypeError(`Scorer ${id}: expected one run, got a list, which is for scorers of conversations.`)
  }
  if (!isList(input) || input.length === 0) {
    throw new TypeError(`Scorer ${id}: expected a list of the runs of a conversation, got ${formatValue(input)}.`)
  }
  const members = input.map((each) => toMember(toRunInput(each).run))
  return { run: toConversationRun(joinMembers(members, { endedBy: 'file' })) }
}

/** Scorers of calls need those of the output. */
function toRunOfLevel(level: Scorer['level'], input: RunInput): RunInput {
  if (level !== 'run' && input.unread?.output !== undefined) throw input.unread.output
  return input
}

function isList(input: ScorerInput | readonly ScorerInput[]): input is readonly ScorerInput[] {
  return Array.isArray(input)
}
