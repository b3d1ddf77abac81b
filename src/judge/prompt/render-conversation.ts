import type { AgentRun, Conversation } from '../../model/agent-run.ts'
import { callFragments, mayLackCalls, nestedFragments, quoted, shownCalls, startedByNone } from './render-call.ts'
import type { ShownCall } from './render-call.ts'
import { instructionsSection, promptCallId, runSections, withoutAnswer } from './render-run.ts'
import type { RunMaterial } from './render-run.ts'
import type { Fragment, SectionDraft } from './section.ts'

/** Turns that a judge is shown: the first and the last ones. */
const FIRST_TURNS = 5
const LAST_TURNS = 50
/** Calls of a conversation that a judge is shown, the latest. */
const MOST_CALLS = 200

/** The indices of the turns that a judge is shown. */
export function shownTurns({ turns }: Pick<Conversation, 'turns'>): readonly number[] {
  return [...turns.keys()].filter((index) => index < FIRST_TURNS || index >= turns.length - LAST_TURNS)
}

/** Everything that a judge can be shown of a run, or of a conversation. */
export function recordSections(run: AgentRun, { handOver }: RunMaterial): readonly SectionDraft[] {
  return run.conversation === undefined
    ? runSections(run, { handOver })
    : conversationSections(run.conversation, { handOver })
}

/** The index of the first call of each run: calls are numbered over the whole conversation. */
function firstCalls({ turns }: Pick<Conversation, 'turns'>): ReadonlyMap<AgentRun, number> {
  let calls = 0
  return new Map(
    turns.flatMap(({ runs }) =>
      runs.map((run) => {
        calls += run.toolCalls.length
        return [run, calls - run.toolCalls.length] as const
      }),
    ),
  )
}

/** The calls of a conversation, with the ids that the material gives them. */
export function conversationCalls(conversation: Pick<Conversation, 'turns'>): readonly ShownCall[] {
  return [...firstCalls(conversation)].flatMap(([run, first]) =>
    shownCalls(run, (index) => promptCallId(first + index)),
  )
}

/**
 * A conversation, in order: the agent's instructions, once for each version, then the turns with the user's messages, the calls with
 * arguments, results and outcomes, and the answers. If space is short, results of older turns are cut first; the messages of the first and
 * the last turn last.
 */
export function conversationSections(conversation: Conversation, { handOver = [] }: RunMaterial = {}): SectionDraft[] {
  const { turns, earlier } = conversation
  const shown = new Set(shownTurns(conversation))
  const leftOut = turns.length - shown.size
  const firsts = firstCalls(conversation)
  let callsToSkip = turns.flatMap(({ runs }) => runs.flatMap(({ toolCalls }) => toolCalls)).length - MOST_CALLS
  const callsOf = (run: AgentRun, turn: string, age: number): Fragment[] => {
    const skipped = Math.max(0, Math.min(callsToSkip, run.toolCalls.length))
    callsToSkip -= run.toolCalls.length
    const missing = new Set(run.missing.map(({ what }) => what))
    const { children } = run
    const idOf = (index: number): string => promptCallId((firsts.get(run) ?? 0) + index)
    const calls = run.toolCalls.flatMap((call, index) => {
      const unknown = new Set(['arguments', 'result'].filter((fact) => missing.has(`toolCalls[${index}].${fact}`)))
      const form = { label: idOf(index), age, handOver, children, unknown }
      return index < skipped ? [] : [{ text: `${turn}, ` }, ...callFragments(call, form)]
    })
    return [
      ...(skipped > 0 ? [{ text: `${turn}: ${skipped} calls are left out\n` }] : []),
      ...calls,
      ...startedByNone(run).flatMap((child) => nestedFragments(child, { label: 'call', age, handOver })),
      ...(mayLackCalls(run) ? [{ text: `${turn}: the record may lack calls\n` }] : []),
    ]
  }
  const fragments = turns.flatMap(({ user, runs }, index): Fragment[] => {
    const gap = leftOut > 0 && index === FIRST_TURNS ? [{ text: `(${leftOut} turns are left out)\n` }] : []
    if (!shown.has(index)) return gap
    const turn = `turn ${index + 1}`
    const age = turns.length - 1 - index
    const isEnd = index === 0 || age === 0
    const line = (who: string, text: string, cut: 'message' | 'judged'): Fragment[] => [
      { text: `${turn}, ${who}: ` },
      { text: quoted(text), cut, age },
      { text: '\n' },
    ]
    return [
      ...gap,
      ...(user === undefined ? [] : line('user', user, isEnd ? 'judged' : 'message')),
      ...runs.flatMap((run) => [
        ...callsOf(run, turn, age),
        ...(run.output === undefined
          ? [{ text: `${turn}, agent: ${withoutAnswer(run, handOver)}\n` }]
          : line('agent', run.output, isEnd ? 'judged' : 'message')),
      ]),
    ]
  })
  return [
    ...instructionSections(conversation),
    ...(earlier.length === 0
      ? []
      : [
          {
            title: "the user's messages from before, for context",
            fragments: earlier.flatMap((text): Fragment[] => [
              { text: quoted(text), cut: 'message', age: turns.length },
              { text: '\n' },
            ]),
          },
        ]),
    { title: 'the conversation', fragments },
  ]
}

/** The instructions of the first run, and what later ones change in them. */
function instructionSections({ turns }: Conversation): SectionDraft[] {
  const sections: SectionDraft[] = []
  let before: string | undefined
  for (const [index, { runs }] of turns.entries()) {
    for (const { systemInstructions: text } of runs) {
      if (text === undefined || text === before) continue
      if (before === undefined) sections.push(...instructionsSection({ systemInstructions: text }))
      else {
        const title = `what the agent's instructions change from turn ${index + 1} on`
        sections.push({ title, fragments: [{ text: changes(before, text), cut: 'instructions' }] })
      }
      before = text
    }
  }
  return sections
}

/** The lines that are gone, with -, and those that are new, with +. */
function changes(before: string, after: string): string {
  const [old, now] = [before.split('\n'), after.split('\n')]
  const [known, kept] = [new Set(old), new Set(now)]
  return [
    ...old.filter((line) => !kept.has(line)).map((line) => `- ${line}`),
    ...now.filter((line) => !known.has(line)).map((line) => `+ ${line}`),
  ].join('\n')
}
