/** A verdict in a script; `tools` are ids or names of offered tools. */
export type ScriptedVerdict =
  | string
  | { readonly verdict: string; readonly reasoning?: string; readonly tools?: readonly string[] }

/** An item of a list in a script: its text, its verdict if the list has a question, and the ids of the calls that it names. */
export type ScriptedItem =
  | string
  | {
      readonly text: string
      readonly verdict?: string
      readonly reasoning?: string
      readonly calls?: readonly string[]
    }

/** A judge's findings: verdicts by question id, items by list name, notes by name. */
export interface ScriptedVerdicts {
  /** Verdicts by the id of the question, such as `user.intent`. */
  readonly verdicts?: Readonly<Record<string, ScriptedVerdict>>
  /** Items by the name of their list. */
  readonly lists?: Readonly<Record<string, readonly ScriptedItem[]>>
  /** Texts by the name of the note. */
  readonly notes?: Readonly<Record<string, string | readonly string[]>>
}

/**
 * Writes the reply of a judge with the scripted findings. What is not asked for is ignored, so that one script may serve several prompts.
 *
 * @returns JSON text
 * @example
 * ```ts
 * const server = await createScriptedOpenAIServer(() =>
 *   judgeReply({ lists: { claims: [{ text: 'It rains.', verdict: 'supported' }] } }),
 * )
 * ```
 */
export function judgeReply({ verdicts = {}, lists = {}, notes = {} }: ScriptedVerdicts): string {
  return JSON.stringify({
    ...Object.fromEntries(
      Object.entries(lists).map(([name, items]) => [
        name,
        items.map((item) => ({ reasoning: '', ...(typeof item === 'string' ? { text: item } : item) })),
      ]),
    ),
    notes,
    answers: Object.entries(verdicts).map(([id, scripted]) => ({
      id,
      reasoning: '',
      ...(typeof scripted === 'string' ? { verdict: scripted } : scripted),
    })),
  })
}
