/** Whom, or what, to forget. */
export type Person =
  | { readonly trace: string }
  /** The id of a conversation, or its key on the page. */
  | { readonly conversation: string }
  /** The id of a user, as in the spans. */
  | { readonly user: string }

/** What was deleted. */
export interface Forgotten {
  /** Traces with anything of the person. */
  readonly traces: number
  /** Runs that the page had. */
  readonly runs: number
}

/** The page's runs, wherever they are. */
export interface PageRuns {
  /** The traces of a person. */
  find(person: Person): Promise<readonly string[]>
  /** The number of runs in traces. */
  count(traceIds: readonly string[]): Promise<number>
  /** Deletes traces. Resolves when nothing of them is in any file of the page. */
  forget(traceIds: readonly string[]): Promise<void>
}

/**
 * Reads whom to forget.
 *
 * @throws Error `expected …, got …`
 */
export function readPerson(given: Readonly<Record<string, string | undefined>>): Person {
  const { trace, conversation, user } = given
  const named = [trace, conversation, user].filter((each) => each !== undefined && each !== '')
  if (named.length !== 1)
    throw new Error(`Expected one of trace, conversation and user, got ${named.length === 0 ? 'none' : 'several'}.`)
  if (user) return { user }
  if (conversation) return { conversation }
  if (trace === undefined || !/^[0-9a-f]{32}$/.test(trace))
    throw new Error('trace: expected 32 lower-case hex digits, got another value.')
  return { trace }
}
