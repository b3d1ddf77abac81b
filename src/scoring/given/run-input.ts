import type { AgentRun } from '../../model/agent-run.ts'
import { isRecord } from '../../spans/json.ts'
import { refusePromise, toGivenResult } from './result.ts'
import { checkInput, checkOutput, GivenRun } from './run.ts'
import type { GivenInput, ScorerInput } from '../scorer.ts'
import { formatValue } from '../format-value.ts'

/** The run that `.run()` scores, and the message form it was made of, if it was. */
export interface RunInput {
  readonly run: AgentRun
  readonly given?: GivenInput
}

/**
 * Makes what `.run()` was given an `AgentRun`: an `AgentRun` as it is, the message form by reading its messages.
 *
 * A run made of messages has the dialect `messages`, no trace (its ids are all zeros, as OpenTelemetry writes "none"), no
 * times, no tokens but those in an agent's result, and is assumed to have finished.
 *
 * @param anyForm for scorers whose steps see input and output as they were given: what cannot be read as messages is left out of
 *   the run instead of refused
 * @throws TypeError where the value is neither
 */
export function toRunInput(value: ScorerInput, anyForm = false): RunInput {
  if (isAgentRun(value)) return { run: value }
  const given: unknown = value ?? { input: undefined, output: undefined }
  if (!isRecord(given)) {
    throw new TypeError(`Expected an AgentRun or { input, output }, got ${formatValue(given)}.`)
  }
  return {
    run: new GivenRun(anyForm ? readable(given) : given),
    given: hasBoth(given) ? given : { ...given, input: given.input, output: given.output },
  }
}

function readable(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { input, output } = given
  refusePromise(output)
  return {
    ...given,
    ...(!holds(() => checkInput(input)) && { input: undefined }),
    ...(!holds(() => toGivenResult(output) ?? checkOutput(output)) && { output: undefined }),
  }
}

function holds(check: () => unknown): boolean {
  try {
    check()
    return true
  } catch {
    return false
  }
}

function hasBoth(given: object): given is GivenInput {
  return 'input' in given && 'output' in given
}

/** Whether the value is a run, made from spans or read back from JSON. */
export function isAgentRun(value: unknown): value is AgentRun {
  return isRecord(value) && 'toolCalls' in value && 'spanId' in value && 'traceId' in value
}
