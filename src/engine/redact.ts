import { toMember, toUnreadMember } from '../conversations/member.ts'
import type { ConversationMember } from '../conversations/member.ts'
import { RUN_LISTS } from '../model/facts.ts'
import type { AgentRun } from '../model/agent-run.ts'
import type { Failed } from '../model/score.ts'
import { describeError, formatValue } from '../scoring/format-value.ts'
import type { WorkSteps } from '../scoring/background.ts'
import { runForeign } from '../scoring/run-foreign.ts'
import { disown, isThenable } from '../scoring/thenable.ts'
import { failed } from '../scoring/unscored.ts'
import type { SteppedRedact } from './text-redactor.ts'
import { frozen } from '../runs/view/frozen.ts'
import { isRecord } from '../spans/json.ts'

type Redact = ((run: AgentRun) => AgentRun) | SteppedRedact

/**
 * Applies `redact` to a plain copy of the run, which it may change. All judges share the result, so it is frozen. Everything but `redact`
 * itself is done in steps.
 *
 * Throws errors of `redact`, and a TypeError if it does not return a run: no judge may see anything else.
 */
export function* redactInSteps(redact: Redact, run: AgentRun): WorkSteps<AgentRun> {
  yield* readInSteps(run)
  const copy = yield* copyInSteps(run, copyOf)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the JSON of a run has all of its facts
  const given = copy as unknown as AgentRun
  const redacted: unknown = 'inSteps' in redact ? yield* redact.inSteps(given) : foreign(redact, given)
  if (isThenable(redacted)) {
    disown(redacted)
    throw new TypeError('expected redact to return a run, got a promise; it cannot be async')
  }
  if (!isRun(redacted)) {
    throw new TypeError(`expected redact to return the run that judges may see, got ${formatValue(redacted)}`)
  }
  // What judges see is a copy, so that later changes by the application do not reach them.
  const readable = Object.freeze(yield* copyInSteps(redacted, (value) => frozen(copyOf(value))))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has the lists of a run
  return readable as unknown as AgentRun
}

function foreign(redact: Redact, run: AgentRun): unknown {
  const result = runForeign((): unknown => redact(run))
  if (!result.ok) throw result.error
  return result.value
}

/** Copies a run as JSON would, each item of its lists in a step. */
function* copyInSteps(run: AgentRun, copyOne: (value: unknown) => unknown): WorkSteps<Record<string, unknown>> {
  const given: unknown = 'toJSON' in run && typeof run.toJSON === 'function' ? run.toJSON() : run
  const copy: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(isRecord(given) ? given : {})) {
    if (Array.isArray(value)) {
      const items: unknown[] = []
      copy[key] = items
      for (const item of value) {
        items.push(copyOne(item) ?? null)
        yield
      }
    } else {
      const own = copyOne(value)
      if (own !== undefined) copy[key] = own
    }
  }
  return copy
}

function copyOf(value: unknown): unknown {
  const text: string | undefined = JSON.stringify(value)
  return text === undefined ? undefined : JSON.parse(text)
}

/** What a conversation keeps of a run: nothing that `redact` was to remove, and if it throws, only that there was a run. */
export function* redactedMember(run: AgentRun, redact: Redact | undefined): WorkSteps<ConversationMember> {
  if (redact === undefined) return toMember(run)
  try {
    return { ...toMember(yield* redactInSteps(redact, run)), isLast: toUnreadMember(run).isLast }
  } catch {
    return toUnreadMember(run)
  }
}

/** Reads everything in a run, in steps. Each fact is parsed at first access, and cached. */
function* readInSteps(run: AgentRun): WorkSteps {
  for (const child of run.children) yield* readInSteps(child)
  void run.input
  yield
  for (const step of [...run.steps, ...run.sideCalls]) {
    void step.input
    yield
    void step.output
    yield
  }
  for (const call of run.toolCalls) {
    void call.arguments
    yield
    void call.result
    yield
  }
  for (const retrieval of run.retrievals) {
    void retrieval.documents
    yield
  }
  void run.output
  void run.availableTools
  yield
  void run.missing
  yield
}

/** The score of a run whose `redact` threw this error. */
export function redactFailed(error: unknown): Failed {
  return failed('redact-failed', {
    text: `redact threw ${formatValue(error, 300)}; nothing was sent to the judge.`,
    withoutContent: `redact threw ${describeError(error)}; nothing was sent to the judge.`,
  })
}

function isRun(value: unknown): value is AgentRun {
  return isRecord(value) && RUN_LISTS.every((name) => Array.isArray(value[name]))
}
