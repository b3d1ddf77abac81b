import type { AgentRun } from '../../model/agent-run.ts'
import { isRecord } from '../../spans/json.ts'
import { refusePromise, toGivenResult } from './result.ts'
import { checkInput, checkOutput, FORM_CHECKS, PassedRun } from './run.ts'
import type { GivenInput, ScorerInput } from '../scorer.ts'
import { formatValue } from '../format-value.ts'
import { refuseUnknown } from '../refuse-unknown.ts'

/** The run that `.run()` scores, and the messages from which it was made, if it was made from messages. */
export interface RunInput {
  readonly run: AgentRun
  readonly given?: GivenInput
}

/**
 * Turns what was passed to `.run()` into an `AgentRun`. An `AgentRun` is returned unchanged.
 *
 * A run made from messages has the dialect `messages`, no trace (its ids are all zeros, which means "none" in OpenTelemetry), no
 * times, no tokens except those in an agent's result, and counts as finished.
 *
 * @param anyForm for scorers whose steps read input and output in any form: values that are not messages are left out of the run
 *   instead of causing an error
 * @throws TypeError if the value is neither, or something was misspelt in it
 */
export function toRunInput(value: ScorerInput, anyForm = false): RunInput {
  if (isAgentRun(value)) return { run: value }
  const given: unknown = value ?? { input: undefined, output: undefined }
  if (!isRecord(given)) {
    throw new TypeError(`Expected an AgentRun or { input, output }, got ${formatValue(given)}.`)
  }
  for (const key of Object.keys(given)) if (!Object.hasOwn(FIELDS, key)) refuseUnknown('.run()', key, FIELDS, 'field')
  return {
    run: anyForm ? new PassedRun(readable(given), FORM_CHECKS) : new PassedRun(given),
    given: hasBoth(given) ? given : { ...given, input: given.input, output: given.output },
  }
}

const FIELDS: Readonly<Record<keyof Exclude<ScorerInput, AgentRun>, true>> = {
  input: true,
  output: true,
  groundTruth: true,
  points: true,
  runId: true,
}

function readable(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { input, output } = given
  refusePromise(output)
  return {
    ...given,
    ...(!holds(() => checkInput(input, FORM_CHECKS)) && { input: undefined }),
    ...(!holds(() => toGivenResult(output) ?? checkOutput(output, FORM_CHECKS)) && { output: undefined }),
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

/** Whether the value is an `AgentRun`, either made from spans or parsed from JSON. */
export function isAgentRun(value: unknown): value is AgentRun {
  return isRecord(value) && 'toolCalls' in value && 'spanId' in value && 'traceId' in value
}
