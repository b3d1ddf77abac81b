import type { JudgedRun } from '../calibration/calibrator.ts'
import type { ProbabilityByVerdict } from '../../../src/cases/labels.ts'
import type { AgentRun } from '../../../src/model/agent-run.ts'
import { safeJson } from '../text.ts'

/**
 * A line of a labelling file: the fields for a person to fill in, then the score's identification, then the run to read.
 * The judge's verdict is not in it, and
 * nothing in it differs by the verdict.
 */
export function labellingLine(judged: JudgedRun, drawProbability: ProbabilityByVerdict, run: AgentRun): string {
  const { runId, scorer, version, judgeModel, revision } = judged
  const line = {
    label: null,
    note: '',
    labeller: '',
    scorer,
    run: shown(run),
    runId,
    version,
    judgeModel,
    revision,
    drawProbability,
  }
  return safeJson(JSON.stringify(line))
}

/** The parts of a run that a person needs to judge it. */
function shown(run: AgentRun): unknown {
  return {
    agent: run.agent.name,
    systemInstructions: run.systemInstructions,
    input: run.input.map(({ role, text, parts }) => ({ role, ...(text === undefined ? { parts } : { text }) })),
    toolCalls: run.toolCalls.map((call) => ({
      name: call.name,
      arguments: call.arguments,
      result: call.result,
      error: call.error,
      status: call.status,
    })),
    output: run.output,
    error: run.error,
    missing: run.missing.length === 0 ? undefined : run.missing,
  }
}
