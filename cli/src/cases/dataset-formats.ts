import type { AgentCase } from '../../../src/cases/agent-case.ts'

/** Tools whose datasets can be written. */
export type DatasetFormat = 'promptfoo' | 'langfuse' | 'deepeval'

/** One line of a dataset, by tool. */
export const DATASET_FORMATS: Readonly<Record<DatasetFormat, (one: AgentCase) => unknown>> = {
  promptfoo: (one) => asPlainText(toPromptfoo(one)),
  langfuse: toLangfuse,
  deepeval: toDeepEval,
}

/** A test of `tests: file://cases.jsonl` (promptfoo 0.123). A list in `vars` would become one test for each item, so that the history is JSON text. */
function toPromptfoo(one: AgentCase): unknown {
  const { mentions, trajectory } = one.expected
  const values = typeof mentions === 'string' ? [mentions] : mentions
  return {
    description: one.input.slice(0, 100),
    vars: { input: one.input, ...(one.history.length > 0 && { history: JSON.stringify(one.history) }) },
    ...(values !== null && { assert: [{ type: 'icontains-any', value: values }] }),
    metadata: { ...aboutCase(one), ...(trajectory !== null && { trajectory }) },
  }
}

/** What promptfoo renders in texts (Nunjucks), and what it loads in place of them. */
const RUN_BY_PROMPTFOO = /\{(?=[{%#])|\bfile:(?=\/\/)|^\s*package(?=:)/g

/** Texts of users with a space wherever promptfoo would run them, such as `file:///etc/passwd` or `{{ env.KEY }}`. */
function asPlainText(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(RUN_BY_PROMPTFOO, '$& ')
  if (Array.isArray(value)) return value.map(asPlainText)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, asPlainText(each)]))
}

/** What `POST /api/public/dataset-items` takes besides `datasetName`. */
function toLangfuse(one: AgentCase): unknown {
  const [sourceTraceId, sourceObservationId] = (one.runId ?? '').split(':')
  const expected = Object.entries(one.expected).filter(([, value]) => value !== null)
  return {
    id: one.id,
    input: { input: one.input, history: one.history },
    ...(expected.length > 0 && { expectedOutput: Object.fromEntries(expected) }),
    metadata: aboutCase(one),
    ...(one.runId !== undefined && { sourceTraceId, sourceObservationId }),
  }
}

/** A line of `add_goldens_from_jsonl_file` (DeepEval 4.3). */
function toDeepEval(one: AgentCase): unknown {
  const { answer, trajectory } = one.expected
  return {
    input: one.input,
    ...(one.answered !== undefined && { actual_output: one.answered }),
    ...(answer !== null && { expected_output: answer }),
    ...(one.called.length > 0 && { tools_called: one.called.map(toTool) }),
    ...(trajectory !== null && { expected_tools: trajectory.map(toTool) }),
    additional_metadata: { ...aboutCase(one), history: one.history },
  }
}

function toTool(call: string | { readonly name: string; readonly arguments?: unknown }): unknown {
  const { name, arguments: args }: { readonly name: string; readonly arguments?: unknown } =
    typeof call === 'string' ? { name: call } : call
  return { name, ...(typeof args === 'object' && args !== null && !Array.isArray(args) && { input_parameters: args }) }
}

function aboutCase({ id, agent, runId, wrong }: AgentCase): Readonly<Record<string, unknown>> {
  return { caseId: id, ...(agent !== undefined && { agent }), runId, wrong }
}
