import type { SQLInputValue } from 'node:sqlite'

import { shownName } from './run-summary.ts'
import { OPEN_SCORES } from './withheld.ts'

/** Which runs, by what no index of the list has. Absent filters exclude nothing. */
export interface RunChoice {
  /** `service.name` of their resource. */
  readonly service?: string | undefined
  /** The id of their user. */
  readonly user?: string | undefined
  /** The id or the key of their conversation. */
  readonly conversation?: string | undefined
  /**
   * Traits that they have, such as `app.plan = free`, one a line. A scorer that fails them, or finds attacks in them, is one, too: `loop = fail`,
   * `injection = attacked`.
   */
  readonly trait?: string | undefined
  /** Words of question, answer, tool calls, errors and ids of user and conversation, or of a user's comment. */
  readonly text?: string | undefined
  /** They took at least so long, and cost at least so much at list prices. */
  readonly minSeconds?: number | undefined
  readonly minUsd?: number | undefined
}

/** A condition of SQL with its values. */
export interface SqlCondition {
  readonly sql: string
  readonly values: readonly SQLInputValue[]
}

/**
 * The conditions of a filter. Each reads its runs once, however many are listed.
 *
 * @param seq the column with the `seq` of a run
 */
export function runConditions(filter: RunChoice, seq: string): readonly SqlCondition[] {
  const { service, user, conversation, trait, text, minSeconds, minUsd } = filter
  const found: SqlCondition[] = []
  const add = (set: string, ...values: readonly SQLInputValue[]) => found.push({ sql: `${seq} IN (${set})`, values })
  // Many runs may be in it, so that it is not looked up run by run: the `+` keeps the order of the list.
  const addLarge = (set: string, ...values: readonly SQLInputValue[]) =>
    found.push({ sql: `+${seq} IN (${set})`, values })
  if (service !== undefined) addLarge('SELECT seq FROM runs WHERE service = ?', shownName(service))
  if (user !== undefined) add("SELECT seq FROM runs WHERE user_id = ? AND user_id <> ''", shownName(user))
  if (conversation !== undefined) {
    const ofConversation = 'SELECT t.run_seq FROM conversations c JOIN turns t ON t.conversation = c.seq'
    add(
      `${ofConversation} WHERE c.id = ? UNION ${ofConversation} WHERE c.key = ?`,
      shownName(conversation),
      conversation,
    )
  }
  for (const { key, value } of traitsIn(trait)) {
    const ofScorer = VERDICTS[value]
    addLarge(
      `SELECT run_seq FROM run_traits WHERE instr(traits, (SELECT ',' || id || ',' FROM traits WHERE key = ? AND value = ?)) > 0
       ${ofScorer === undefined ? '' : `UNION ALL SELECT run_seq FROM ${OPEN_SCORES} WHERE ${ofScorer} AND scorer = ?`}`,
      key,
      value,
      ...(ofScorer === undefined ? [] : [key]),
    )
  }
  const words = wordsOf(text)
  if (words.length > 0) {
    addLarge(
      `SELECT rowid FROM run_texts WHERE run_texts MATCH ?
       UNION ALL SELECT of.seq FROM said CROSS JOIN runs of ON of.trace_id = said.trace_id WHERE opinion <> '' AND has_comment = 1
       AND of.parent_id IS NULL AND of.id NOT IN (SELECT run_id FROM drawn WHERE seen_ms IS NULL) ${words.map(() => IN_COMMENT).join('')}`,
      matchOf(words),
      ...words.map((word) => word.toLowerCase()),
    )
  }
  const took = 'SELECT seq FROM runs INDEXED BY runs_by_end WHERE'
  if (minSeconds !== undefined) addLarge(`${took} end_ms - start_ms >= ?`, minSeconds * 1000)
  if (minUsd !== undefined) addLarge(`${took} cost_usd >= ?`, minUsd)
  return found
}

/** What a scorer says of a run, as a trait. */
const VERDICTS: Readonly<Record<string, string>> = { fail: "label = 'fail'", attacked: 'found > 0' }

const IN_COMMENT = ` AND instr(lower(json_extract(log, '$.attributes."gen_ai.evaluation.explanation"')), ?) > 0`

/** A query would end at a null character. */
export function wordsOf(text: string | undefined): readonly string[] {
  return (text ?? '').split(/[\s\0]+/).filter((word) => word !== '')
}

/** Every word must occur; the last one may be incomplete. FTS operators have no effect. */
function matchOf(words: readonly string[]): string {
  return words.map((word, index) => `"${word.replaceAll('"', '""')}"${index === words.length - 1 ? '*' : ''}`).join(' ')
}

/** The same for conversations: those with one such run. */
export function conversationConditions(filter: RunChoice, conversation: string): readonly SqlCondition[] {
  return runConditions(filter, 'run_seq').map(({ sql, values }) => ({
    sql: `${conversation} IN (SELECT conversation FROM turns WHERE ${sql})`,
    values,
  }))
}

/** More traits than anybody chooses. */
const MAX_TRAITS = 8

/** Traits of an address: one a line, as `traitText` writes them. */
export function traitsIn(text: string | undefined): readonly { readonly key: string; readonly value: string }[] {
  return (text ?? '')
    .split('\n')
    .slice(0, MAX_TRAITS)
    .flatMap((line) => {
      const [, key, value] = /^\s*(.+?)\s*=\s*(.+?)\s*$/.exec(line) ?? []
      return key === undefined || value === undefined ? [] : [{ key, value }]
    })
}
