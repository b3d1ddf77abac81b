import type { AgentRun } from '../../model/agent-run.ts'

/** Reads everything in a run, in steps. Each fact is parsed at first access, and cached. */
export function* readInSteps(run: AgentRun): Generator<undefined, void> {
  for (const child of run.children) yield* readInSteps(child)
  void run.input
  yield
  for (const step of run.steps) {
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
