import { setTimeout as wait } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

/** Every call of a tool so far, as the tool saw it. */
export const done = []

/** The tools of a run's agent: name, description, schema, and a function that does what the script says. */
export function toolsOf(run, answer) {
  const calls = run.turns.flatMap((turn) => turn.calls ?? [])
  return (run.handsOffTo ?? run).tools.map(({ name, description, parameters }) => ({
    name,
    description,
    schema: z.object(Object.fromEntries(parameters.map((parameter) => [parameter, z.string()]))),
    jsonSchema: {
      type: 'object',
      properties: Object.fromEntries(parameters.map((parameter) => [parameter, { type: 'string' }])),
      required: parameters,
      additionalProperties: false,
    },
    needsApproval: calls.some((call) => call.name === name && call.waits === true),
    async execute(args) {
      done.push({ name, args: { ...args } })
      const call = calls.find((candidate) => candidate.name === name && isDeepStrictEqual(candidate.args, { ...args }))
      if (call === undefined) throw new Error(`no call of ${name} with ${JSON.stringify(args)} is in the script`)
      if (call.delayMs > 0) await wait(call.delayMs)
      if (call.error !== undefined) throw new Error(call.error)
      return call.nested === undefined ? call.result : answer(call.nested, { stream: false, isNested: true })
    },
  }))
}

/** The result as the text that goes back to the model. */
export function asText(result) {
  return typeof result === 'string' ? result : JSON.stringify(result)
}
