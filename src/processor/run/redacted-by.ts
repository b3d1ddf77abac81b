import type { AgentRun } from '../../model/agent-run.ts'
import type { Failed } from '../../model/score.ts'
import { describeError, formatValue } from '../../scoring/format-value.ts'
import { inSlices, withoutPause } from '../../scoring/in-slices.ts'
import { runForeign } from '../../scoring/run-foreign.ts'
import { disown, isThenable } from '../../scoring/thenable.ts'
import { failed } from '../../scoring/unscored.ts'
import { frozenInSteps } from '../../runs/view/frozen.ts'
import { isRecord } from '../../spans/json.ts'
import { plainCopy } from './plain-copy.ts'

type Redact = (run: AgentRun) => AgentRun

/**
 * Applies `redact` to a plain copy of the run, which it may change. All judges share the result, so it is frozen.
 *
 * @throws errors of `redact`, and TypeError if it does not return a run: no judge may see anything else
 */
export function redactedBy(redact: Redact, run: AgentRun): AgentRun {
  return withoutPause(redactInSteps(redact, run))
}

/** Like `redactedBy`, but for a run of megabytes everything except `redact` itself is spread over turns of the event loop. */
export async function redactedInSlices(redact: Redact, run: AgentRun): Promise<AgentRun> {
  return inSlices(redactInSteps(redact, run))
}

function* redactInSteps(redact: Redact, run: AgentRun): Generator<undefined, AgentRun> {
  yield* readInSteps(run)
  const copy = yield* plainCopy(run)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the JSON of a run has all of its facts
  const result = runForeign((): unknown => redact(copy as AgentRun))
  if (!result.ok) throw result.error
  const redacted = result.value
  if (isThenable(redacted)) {
    disown(redacted)
    throw new TypeError('expected redact to return a run, got a promise; it cannot be async')
  }
  if (isRun(redacted)) {
    // Only what JSON can hold is read, and it has an end.
    const readable = yield* plainCopy(redacted)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has the lists of a run
    return yield* frozenInSteps(readable as AgentRun)
  }
  throw new TypeError(`expected redact to return the run that judges may see, got ${formatValue(redacted)}`)
}

/** Reads everything in a run, in steps. Each fact is parsed at first access, and cached. */
function* readInSteps(run: AgentRun): Generator<undefined, void> {
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

/** The arrays that every reader of a run iterates over. */
const LISTS = ['input', 'toolCalls', 'steps', 'sideCalls', 'children', 'models', 'missing'] as const

function isRun(value: unknown): value is AgentRun {
  return isRecord(value) && LISTS.every((name) => Array.isArray(value[name]))
}
