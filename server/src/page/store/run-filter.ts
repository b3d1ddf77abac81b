import type { SQLInputValue } from 'node:sqlite'

import { shownName } from './run-summary.ts'

/** Which runs, by what no index of the list has. Absent filters exclude nothing. */
export interface RunChoice {
  /** `service.name` of their resource. */
  readonly service?: string | undefined
  /** The id of their user. */
  readonly user?: string | undefined
  /** The id or the key of their conversation. */
  readonly conversation?: string | undefined
  /** Traits that they have, such as `app.plan = free`, one a line. */
  readonly trait?: string | undefined
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
  const { service, user, conversation, trait } = filter
  const found: SqlCondition[] = []
  const add = (set: string, ...values: readonly SQLInputValue[]) => found.push({ sql: `${seq} IN (${set})`, values })
  if (service !== undefined) add('SELECT seq FROM runs WHERE service = ?', shownName(service))
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
    add(
      `SELECT run_seq FROM run_traits WHERE instr(traits, (SELECT ',' || id || ',' FROM traits WHERE key = ? AND value = ?)) > 0`,
      key,
      value,
    )
  }
  return found
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
