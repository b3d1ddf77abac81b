import type { AgentRun } from '../../../model/agent-run.ts'
import { payload, shortName } from '../../../judge/prompt/render-call.ts'
import { promptCallId } from '../../../judge/prompt/render-run.ts'
import type { SectionDraft } from '../../../judge/prompt/section.ts'
import { isRecord } from '../../../spans/json.ts'

/** A value of a call's arguments that is judged by itself. */
export interface ArgumentValue {
  /** `call_2.a1`, in the material and in questions. */
  readonly id: string
  /** The index of the call in `run.toolCalls`. */
  readonly call: number
  /** The path in the arguments: `stops[2].name`. */
  readonly path: string
  readonly value: unknown
}

/** The most values of a call; further ones are left out. */
const MAX_VALUES = 40

/** The values of all calls: texts, numbers and booleans, wherever they are in the arguments. */
export function valuesOf(run: AgentRun): readonly ArgumentValue[] {
  return run.toolCalls.flatMap(({ arguments: given }, call) =>
    [...leaves('', given)]
      .slice(0, MAX_VALUES)
      .map(({ path, value }, index) => ({ id: `${promptCallId(call)}.a${index + 1}`, call, path, value })),
  )
}

function* leaves(path: string, value: unknown): Generator<{ readonly path: string; readonly value: unknown }> {
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) yield* leaves(`${path}[${index}]`, each)
  } else if (isRecord(value)) {
    for (const [key, each] of Object.entries(value)) yield* leaves(path === '' ? key : `${path}.${key}`, each)
  } else if (value !== undefined && value !== null && value !== '') yield { path, value }
}

/** The values with their ids, one on each line. */
export function valuesSection(values: readonly ArgumentValue[]): SectionDraft {
  return {
    title: 'the values of arguments (id, argument, value)',
    fragments: values.flatMap(({ id, path, value }) =>
      payload(`${id}: ${path === '' ? '' : `${shortName(path)} = `}`, value, 'judged', { about: id }),
    ),
  }
}

/** The tools that were called, as the model was offered them, with the schemas of their arguments; none if that was not recorded. */
export function schemasSection({ availableTools = [], toolCalls }: AgentRun): SectionDraft[] {
  const called = new Set(toolCalls.map(({ name }) => name))
  const fragments = availableTools.flatMap(({ name, description, parameters }) =>
    called.has(name)
      ? [
          { text: `${shortName(name)}\n` },
          ...payload('description: ', description, 'result', { indent: '  ' }),
          ...payload('arguments: ', parameters, 'result', { indent: '  ' }),
        ]
      : [],
  )
  return fragments.length === 0
    ? []
    : [{ title: 'the tools that were called, and the schemas of their arguments', fragments }]
}
