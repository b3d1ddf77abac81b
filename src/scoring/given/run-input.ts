import type { AgentRun } from '../../model/agent-run.ts'
import { isRecord } from '../../spans/json.ts'
import { refusePromise } from './result.ts'
import { checkInput, checkOutput, PassedRun } from './run.ts'
import type { ExpectedAnswer, GivenInput, ScorerInput } from '../scorer.ts'
import type { UnreadForms } from '../reads.ts'
import { formatValue } from '../format-value.ts'
import { refuseUnknown } from '../refuse-unknown.ts'

/** The run that `.run()` scores, and the messages from which it was made, if it was made from messages. */
export interface RunInput {
  readonly run: AgentRun
  readonly given?: GivenInput
  /** What is expected of the run, if something is. */
  readonly expected?: ExpectedAnswer
  /** Why what was passed is not read as messages. */
  readonly unread?: UnreadForms
}

/**
 * Turns what was passed to `.run()` into an `AgentRun`. An `AgentRun` is returned unchanged; `groundTruth` may be beside its facts.
 *
 * A run made from messages has the dialect `messages`, no trace (its ids are all zeros, which means "none" in OpenTelemetry), no
 * times, no tokens except those in an agent's result, and counts as finished.
 *
 * @param anyForm for scorers whose steps read input and output in any form: values that are not messages are left out of the run, and
 *   the error is returned
 * @throws TypeError if the value is neither, or something was misspelt in it
 */
export function toRunInput(value: ScorerInput, anyForm = false): RunInput {
  if (isAgentRun(value)) return { run: value, ...expectedOf(value) }
  const given: unknown = value ?? { input: undefined, output: undefined }
  if (!isRecord(given)) {
    throw new TypeError(`Expected an AgentRun or { input, output }, got ${formatValue(given)}.`)
  }
  for (const key of Object.keys(given)) if (!Object.hasOwn(FIELDS, key)) refuseUnknown('.run()', key, FIELDS, 'field')
  if (isAgentRun(given.output)) {
    throw new TypeError(
      'Expected output to be an answer, got an AgentRun: pass the run itself, or { ...run, groundTruth }.',
    )
  }
  const messages = hasBoth(given) ? given : { ...given, input: given.input, output: given.output }
  const passed = { given: messages, ...expectedOf(given) }
  if (!anyForm) return { run: new PassedRun(given), ...passed }
  refusePromise(given.output)
  const [input, output] = [errorOf(() => checkInput(given.input)), errorOf(() => checkOutput(given.output))]
  if (input === undefined && output === undefined) return { run: new PassedRun(given), ...passed }
  const read = { ...given, ...(input && { input: undefined }), ...(output && { output: undefined }) }
  return { run: new PassedRun(read), ...passed, unread: { ...(input && { input }), ...(output && { output }) } }
}

function expectedOf(value: object): Pick<RunInput, 'expected'> {
  const { groundTruth, points }: ExpectedAnswer = value
  if (groundTruth === undefined && points === undefined) return {}
  return { expected: { groundTruth, ...(points !== undefined && { points }) } }
}

const FIELDS: Readonly<Record<keyof Exclude<ScorerInput, AgentRun>, true>> = {
  input: true,
  output: true,
  groundTruth: true,
  points: true,
  runId: true,
}

function errorOf(check: () => void): TypeError | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof TypeError) return error
    throw error
  }
}

function hasBoth(given: object): given is GivenInput {
  return 'input' in given && 'output' in given
}

/** Whether the value is an `AgentRun`, either made from spans or parsed from JSON. */
export function isAgentRun(value: unknown): value is AgentRun {
  return isRecord(value) && 'toolCalls' in value && 'spanId' in value && 'traceId' in value
}
