import { isDeepStrictEqual } from 'node:util'

import type { ScriptedReply, ScriptedRequest } from '../../src/testing/scripted-reply.ts'
import type { ExpectedCall, ExpectedRun } from '../corpus/load.ts'
import type { Library } from './libraries.ts'
import type { LiveScenario, PlayedCall, PlayedRun } from './scenarios.ts'

/** The part of a model request that every API has. */
export type Question = Pick<ScriptedRequest, 'index' | 'system' | 'userText' | 'toolResults'>

/** What the scripted model answers in this scenario; or an error if the script has no answer. */
export function replyOf(scenario: LiveScenario, question: Question): ScriptedReply {
  const runs = allRuns(scenario.runs)
  const run = runs.find(
    ({ input, ...agent }) =>
      question.userText.includes(input) &&
      [agent.system, agent.handsOffTo?.system].some((text) => text !== undefined && question.system.includes(text)),
  )
  if (run === undefined)
    return unscripted(`no run has these instructions and this question: ${JSON.stringify(question)}`)
  const turn = nextTurn(run, question.toolResults.length)
  if (turn === undefined) return unscripted(`${run.input} has no turn after ${question.toolResults.length} results`)
  if ('answer' in turn)
    return { text: turn.answer, ...(turn.cutOffBy !== undefined && { finishReason: turn.cutOffBy }) }
  return {
    ...(turn.text !== undefined && { text: turn.text }),
    toolCalls: turn.calls.map(({ name, args }, position) => ({
      id: `call_${question.index}_${position}`,
      name,
      arguments: args,
    })),
  }
}

/** The turn that follows the given number of tool results. */
function nextTurn(run: PlayedRun, resultCount: number): PlayedRun['turns'][number] | undefined {
  let answered = 0
  for (const turn of run.turns) {
    if (answered === resultCount) return turn
    answered += 'calls' in turn ? turn.calls.length : 0
  }
  return undefined
}

function unscripted(message: string): ScriptedReply {
  return { status: 400, error: { message: `The script has no answer: ${message}` } }
}

function allRuns(runs: readonly PlayedRun[]): PlayedRun[] {
  return runs.flatMap((run) => [run, ...allRuns(callsOf(run).flatMap(({ nested }) => nested ?? []))])
}

/** Every tool call of a run, in the model's order. */
export function callsOf(run: PlayedRun): readonly PlayedCall[] {
  return run.turns.flatMap((turn) => ('calls' in turn ? turn.calls : []))
}

/** Whether a run ends because a call waits for a person's approval. */
export function isWaiting(run: PlayedRun): boolean {
  return callsOf(run).at(-1)?.waits === true
}

/** The text that a run ends with: none if it waits. */
export function answerOf(run: PlayedRun): string {
  if (isWaiting(run)) return ''
  const last = run.turns.at(-1)
  if (last === undefined || !('answer' in last)) throw new Error(`expected a last turn with an answer in: ${run.input}`)
  return last.answer
}

/** How a library words what it records. */
type Wording = Pick<Library, 'hidesErrors'>

/** The facts of the run, in the form of the recordings. */
export function expectedRun(run: PlayedRun, library: Wording): ExpectedRun {
  const calls = run.turns.flatMap((turn, step) =>
    'calls' in turn ? turn.calls.map((call) => expectedCall(call, step, run, library)) : [],
  )
  return {
    agentName: run.agent,
    userInput: run.input,
    systemPrompt: run.system,
    history: [],
    availableTools: run.tools.map(({ name }) => name),
    status: 'ok',
    output: isWaiting(run) ? undefined : answerOf(run),
    toolCalls: calls,
    modelCalls: run.turns.length,
  }
}

function expectedCall(call: PlayedCall, step: number, run: PlayedRun, library: Wording): ExpectedCall {
  const { name, args, result, error, nested, waits } = call
  const isHandoff = run.handsOffTo !== undefined && step === 0
  return {
    name,
    args,
    step,
    ...(error !== undefined && { error, errorTextIsLibrarySpecific: library.hidesErrors === true }),
    ...(waits === true && { executed: 'pending' as const }),
    ...(error === undefined &&
      waits === undefined &&
      !isHandoff && { result: nested === undefined ? result : answerOf(nested) }),
    ...(nested !== undefined && { nested: expectedRun(nested, library) }),
    ...(isHandoff && { isHandoff }),
    ...(run.handsOffTo !== undefined && { agentName: isHandoff ? run.agent : run.handsOffTo.agent }),
  }
}

/** A tool call as the program's own tool saw it. */
export interface DoneCall {
  readonly name: string
  readonly args: unknown
}

/** How the program's answers and tool calls differ from the script, in one sentence each. */
export function complaintsAboutProgram(
  scenario: LiveScenario,
  answers: readonly string[],
  done: readonly DoneCall[],
): string[] {
  const rightAnswers = scenario.runs.map(answerOf)
  const left = [...done]
  const notDone = allRuns(scenario.runs)
    .flatMap((run) => callsOf(run).filter((_, position) => run.handsOffTo === undefined || position > 0))
    .filter(({ name, args, waits }) => {
      if (waits === true) return false
      const found = left.findIndex((call) => call.name === name && isDeepStrictEqual(call.args, args))
      if (found >= 0) left.splice(found, 1)
      return found < 0
    })
  return [
    ...(isDeepStrictEqual(answers, rightAnswers)
      ? []
      : [`the program answered ${JSON.stringify(answers)}, the script says ${JSON.stringify(rightAnswers)}`]),
    ...notDone.map((call) => `the program did not call ${call.name}(${JSON.stringify(call.args)})`),
    ...left.map((call) => `the program called ${call.name}(${JSON.stringify(call.args)}), which the script does not`),
  ]
}
