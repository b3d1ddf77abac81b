import type { AgentRun } from '../runs/agent-run.ts'
import { isRecord } from '../spans/json.ts'
import { GivenRun } from './given-run.ts'
import type { GivenInput, ScorerInput } from './scorer.ts'
import { show } from './show.ts'

/** The run that `.run()` scores, and the message form it was made of, if it was. */
export interface RunInput {
  readonly run: AgentRun
  readonly given?: GivenInput
}

/**
 * Makes what `.run()` was given an `AgentRun`: an `AgentRun` as it is, the message form by reading its messages.
 *
 * A run made of messages has the dialect `messages`, no trace (its ids are all zeros, as OpenTelemetry writes "none"), no
 * times and no tokens but those that an agent's result tells of, and is taken to have finished.
 *
 * @throws TypeError where the value is neither
 */
export function toRunInput(value: ScorerInput): RunInput {
  if (isAgentRun(value)) return { run: value }
  const given: unknown = value ?? { input: undefined, output: undefined }
  if (!isRecord(given)) {
    throw new TypeError(`Expected an AgentRun or { input, output }, got ${show(given)}.`)
  }
  return {
    run: new GivenRun(given),
    given: hasBoth(given) ? given : { ...given, input: given.input, output: given.output },
  }
}

function hasBoth(given: object): given is GivenInput {
  return 'input' in given && 'output' in given
}

/** Whether the value is a run, made from spans or read back from JSON. */
export function isAgentRun(value: unknown): value is AgentRun {
  return isRecord(value) && 'toolCalls' in value && 'spanId' in value && 'traceId' in value
}
