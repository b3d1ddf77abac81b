import { isDeepStrictEqual } from 'node:util'
import type { AgentRun, ToolCall } from '../../src/model/agent-run.ts'
import type { ExpectedCall, ExpectedRun, ExpectedScenario, Scenario } from './load.ts'

/** A fact in which the reconstructed run differs from what was played. */
export interface Difference {
  /** The place of the fact, such as `runs[0].toolCalls[1].result`. */
  readonly path: string
  readonly expected: unknown
  readonly actual: unknown
}

/**
 * Compares reconstructed runs with what was played. A fact that the recording does not hold (content capture off, or named
 * in the recording's list of missing facts) is right when it is absent; when it is there it must be true.
 */
export function compareScenario(scenario: Scenario, runs: readonly AgentRun[]): readonly Difference[] {
  const differences: Difference[] = []
  const { expected } = scenario
  if (runs.length !== expected.runs.length) {
    differences.push({ path: 'runs.length', expected: expected.runs.length, actual: runs.length })
  }
  // Requests that are made together start in the same millisecond. They are distinguished by their questions.
  const left = [...runs]
  for (const [index, run] of expected.runs.entries()) {
    const same = left.findIndex((candidate) => candidate.userInput === run.userInput)
    const [actual] = left.splice(Math.max(same, 0), 1)
    compareRun(run, actual, `runs[${index}]`, new Lenience(scenario, index), differences)
  }
  return differences
}

/** Which facts may be absent. */
class Lenience {
  readonly #scenario: ExpectedScenario
  readonly #missing: readonly string[]
  readonly #prefixes: readonly string[]

  constructor({ expected, missing = [] }: Scenario, runIndex: number) {
    this.#scenario = expected
    this.#missing = missing
    this.#prefixes = ['', `run${runIndex}.`]
  }

  get inputs(): boolean {
    return this.#scenario.captured?.inputs === false || this.#scenario.contentCapture === false
  }

  get outputs(): boolean {
    return this.#scenario.captured?.outputs === false || this.#scenario.contentCapture === false
  }

  isMissing(fact: string): boolean {
    return this.#prefixes.some((prefix) => this.#missing.includes(prefix + fact))
  }
}

function compareRun(
  expected: ExpectedRun,
  actual: AgentRun | undefined,
  path: string,
  lenience: Lenience,
  differences: Difference[],
): void {
  if (actual === undefined) {
    differences.push({ path, expected: expected.userInput, actual: undefined })
    return
  }
  const check = (fact: string, wanted: unknown, found: unknown, mayBeAbsent: boolean): void => {
    if (isDeepStrictEqual(wanted, found) || (mayBeAbsent && found === undefined)) return
    differences.push({ path: `${path}.${fact}`, expected: wanted, actual: found })
  }
  if (expected.agentName !== undefined) {
    check('agentName', expected.agentName, actual.agent.name, lenience.isMissing('agentName'))
  }
  const noInput = lenience.inputs || lenience.isMissing('userInput')
  check('userInput', expected.userInput, actual.userInput, noInput)
  const system = expected.systemPrompt === '' ? undefined : expected.systemPrompt
  check('systemInstructions', system, actual.systemInstructions, lenience.inputs || lenience.isMissing('systemPrompt'))
  if (actual.userInput !== undefined) {
    const asked = actual.input.findLastIndex((message) => message.role === 'user' && message.text !== undefined)
    check('history.length', expected.history?.length ?? 0, asked, false)
  }
  compareOutput(expected, actual, path, lenience.outputs || lenience.isMissing('output'), differences)
  compareStatus(expected, actual, path, differences)
  const names = actual.availableTools?.map((tool) => tool.name).toSorted()
  const wantedNames = expected.availableTools?.toSorted()
  if (names !== undefined && names.length > 0) {
    // Tools of the provider, and those that hand over to another agent, are offered, but are not functions of the script.
    const special = expected.toolCalls.filter((call) => call.providerExecuted === true || call.isHandoff === true)
    const provided = new Set(special.map((call) => call.name))
    const functions = names.filter((name) => !provided.has(name))
    const some = expected.availableTools?.some((name) => lenience.isMissing(`tool:${name}`)) === true
    check('availableTools', wantedNames, some ? wantedNames : functions, lenience.inputs)
  }
  compareCalls(expected, actual, path, lenience, differences)
  compareRetrievals(expected, actual, path, lenience, differences)
  compareMissing(expected, actual, path, differences)
}

function compareRetrievals(
  { retrievals }: ExpectedRun,
  { retrievals: found, missing }: AgentRun,
  path: string,
  lenience: Lenience,
  differences: Difference[],
): void {
  if (retrievals === undefined) return
  const check = (fact: string, wanted: unknown, actual: unknown): void => {
    if (!isDeepStrictEqual(wanted, actual)) differences.push({ path: `${path}.${fact}`, expected: wanted, actual })
  }
  check('retrievals.length', retrievals.length, found.length)
  for (const [index, wanted] of retrievals.entries()) {
    const actual = found[index]
    if (actual === undefined) continue
    const fact = `retrievals[${index}]`
    check(`${fact}.kind`, wanted.kind, actual.kind)
    check(`${fact}.toolCall`, wanted.toolCall, actual.toolCall)
    if (wanted.query !== undefined) check(`${fact}.query`, wanted.query, actual.query)
    check(`${fact}.failed`, wanted.error !== undefined, actual.status === 'error')
    if (wanted.error !== undefined) check(`${fact}.error`, true, actual.error?.message?.includes(wanted.error))
    const texts = actual.documents?.map(({ content }) => content)
    if (wanted.documents === undefined) check(`${fact}.documents`, undefined, texts)
    else if (lenience.isMissing(`${fact}.documents`)) {
      check(`${fact}.documents.texts`, [], texts?.filter((text) => text !== undefined) ?? [])
      check(`${fact}.missing`, true, missing.some(({ what }) => what === `${fact}.documents`))
    } else check(`${fact}.documents`, wanted.documents.map(({ content }) => content), texts)
    for (const [place, { id }] of (wanted.documents ?? []).entries()) {
      const recorded = actual.documents?.[place]?.id
      if (recorded !== undefined) check(`${fact}.documents[${place}].id`, id, recorded)
    }
  }
}

/** What was played and is absent must be named as missing. */
function compareMissing(expected: ExpectedRun, actual: AgentRun, path: string, differences: Difference[]): void {
  const named = new Set(actual.missing.map(({ what }) => what))
  const check = (what: string, wanted: unknown, found: unknown): void => {
    const isAbsent = wanted !== undefined && wanted !== null && wanted !== '' && found === undefined
    if (isAbsent && !named.has(what)) differences.push({ path: `${path}.missing`, expected: what, actual: [...named] })
  }
  const isEnded = actual.status === 'ok' || actual.status === 'unknown'
  check('input', expected.userInput, actual.userInput)
  check('systemInstructions', expected.systemPrompt, actual.systemInstructions)
  if (isEnded) check('output', expected.output, actual.output)
  if (expected.availableTools?.length !== 0) check('availableTools', expected.availableTools, actual.availableTools)
  for (const [index, call] of expected.toolCalls.entries()) {
    const found = actual.toolCalls[index]
    if (found === undefined) continue
    check(`toolCalls[${index}].arguments`, call.args, found.arguments)
    if (call.isHandoff !== true) check(`toolCalls[${index}].result`, call.result, found.result)
  }
}

function compareOutput(
  expected: ExpectedRun,
  actual: AgentRun,
  path: string,
  mayBeAbsent: boolean,
  differences: Difference[],
): void {
  const right = [expected.output ?? undefined, ...(expected.outputAlt ?? [])]
  const found = expected.outputIsObject === true ? parse(actual.output) : actual.output
  if (right.some((value) => isDeepStrictEqual(value, found)) || (mayBeAbsent && found === undefined)) return
  differences.push({ path: `${path}.output`, expected: right[0], actual: found })
}

function compareStatus(expected: ExpectedRun, actual: AgentRun, path: string, differences: Difference[]): void {
  const found = actual.status
  // The programs do not fail while somebody has to answer, and have no answer yet.
  const last = expected.toolCalls.at(-1)
  const waits = expected.status === 'ok' && (last?.executed ?? true) !== true && (expected.output ?? '') === ''
  const right =
    expected.status === undefined
      ? (found === 'error') === (expected.error !== undefined)
      : (waits ? 'waiting' : expected.status) === found
  if (!right) {
    const wanted = expected.status ?? (expected.error === undefined ? 'no error' : 'error')
    differences.push({ path: `${path}.status`, expected: wanted, actual: found })
  }
}

function compareCalls(
  expected: ExpectedRun,
  actual: AgentRun,
  path: string,
  lenience: Lenience,
  differences: Difference[],
): void {
  const wanted = expected.toolCalls.map((call) => call.name)
  const found = actual.toolCalls.map((call) => call.name)
  if (found.length === 0 && lenience.isMissing('toolCalls')) {
    if (wanted.length === 0 || actual.missing.some(({ what }) => what === 'toolCalls')) return
  }
  if (!isDeepStrictEqual(wanted, found)) {
    differences.push({ path: `${path}.toolCalls`, expected: wanted, actual: found })
    return
  }
  for (const [index, call] of expected.toolCalls.entries()) {
    const other = actual.toolCalls[index]
    if (other !== undefined) compareCall(call, other, index, actual, `${path}.toolCalls[${index}]`, lenience, differences)
  }
}

function compareCall(
  expected: ExpectedCall,
  actual: ToolCall,
  index: number,
  run: AgentRun,
  path: string,
  lenience: Lenience,
  differences: Difference[],
): void {
  const check = (fact: string, right: readonly unknown[], found: unknown, mayBeAbsent: boolean): void => {
    if (right.some((value) => isDeepStrictEqual(value, found)) || (mayBeAbsent && found === undefined)) return
    differences.push({ path: `${path}.${fact}`, expected: right[0], actual: found })
  }
  const noArguments = lenience.inputs || lenience.outputs || lenience.isMissing(`call${index}.args`)
  // Most recordings do not contain what a provider's tool returned.
  const noResult = expected.providerExecuted === true || lenience.outputs || lenience.inputs || lenience.isMissing(`call${index}.result`)
  const rightArguments = expected.recordedArgs === undefined ? [expected.args] : [expected.recordedArgs]
  check('arguments', rightArguments, actual.arguments, noArguments)
  const failed = expected.error !== undefined
  const rightResult = expected.recordedResult === undefined ? [expected.result] : [expected.recordedResult]
  if (expected.isHandoff !== true) check('result', expected.resultUndefined === true ? [undefined, null] : failed ? [undefined] : rightResult, actual.result, noResult)
  const hasRun = !['not-executed', 'waiting', 'rejected'].includes(actual.status)
  check('executed', [(expected.executed ?? true) === true], hasRun, false)
  if (failed !== (actual.error !== undefined)) {
    check('error', [expected.error], actual.error, lenience.outputs || lenience.isMissing(`call${index}.error`))
  } else if (failed && expected.executed !== false && expected.errorTextIsLibrarySpecific !== true) {
    const text = actual.error?.message
    const isRedacted = lenience.outputs || lenience.isMissing(`call${index}.error`)
    if (!isRedacted && text?.includes(expected.error ?? '') !== true) {
      check('error.message', [expected.error], text, false)
    }
  }
  if (expected.step !== undefined) check('step', [expected.step], actual.step, false)
  if (expected.agentName !== undefined) check('agentName', [expected.agentName], actual.agentName, false)
  if (expected.providerExecuted === true) check('providerExecuted', [true], actual.providerExecuted, false)
  const nested = expected.nested === undefined ? [] : [expected.nested].flat()
  const children = run.children.filter((child) => actual.childRunId === child.id || isStartedBy(child, actual))
  if (nested.length !== children.length) {
    differences.push({ path: `${path}.nested.length`, expected: nested.length, actual: children.length })
  }
  for (const [at, inner] of nested.entries()) {
    compareRun(inner, children[at], `${path}.nested[${at}]`, lenience, differences)
  }
}

function isStartedBy(child: AgentRun, call: ToolCall): boolean {
  return call.id !== undefined && child.parent?.toolCallId === call.id
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}
