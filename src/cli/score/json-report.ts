import type { Evaluation } from '../../model/score.ts'
import { write } from '../output.ts'
import type { OutputStream } from '../output.ts'
import { safeJson } from '../text.ts'
import type { BaselineComparison } from './baseline.ts'
import type { GateResult } from './gates.ts'
import type { ReportedEvaluation } from './reported-evaluation.ts'
import { inputKeyOf } from './run-key.ts'
import type { EvaluatedRun } from './run-scorers.ts'
import type { ReasonCount, TallyRow } from './tally.ts'

/** The end of a report. */
export interface ReportSummary {
  readonly rows: readonly TallyRow[]
  readonly gates: readonly GateResult[]
  readonly baseline: readonly BaselineComparison[] | undefined
}

/**
 * Streams `{ "evaluations": […], "summary": […], "gates": […] }`. Each evaluation is one line, so that the report
 * of a gigabyte of traces can be written, and read again as a baseline, in constant memory.
 */
export class JsonReport {
  readonly #stdout: OutputStream
  #count = 0

  constructor(stdout: OutputStream) {
    this.#stdout = stdout
  }

  async add({ run, evaluations }: EvaluatedRun): Promise<void> {
    const inputKey = inputKeyOf(run)
    let text = ''
    for (const evaluation of evaluations) {
      const line: ReportedEvaluation = {
        runId: run.id,
        ...(run.agent.name !== undefined && { agent: run.agent.name }),
        ...(inputKey !== undefined && { inputKey }),
        ...toReported(evaluation),
      }
      text += `${this.#count++ === 0 ? '{ "evaluations": [\n' : ',\n'}${safeJson(JSON.stringify(line))}`
    }
    await write(this.#stdout, text)
  }

  async end({ rows, gates, baseline }: ReportSummary): Promise<void> {
    const parts = [
      `"summary": ${listText(rows.map(toSummary))}`,
      `"gates": ${listText(gates)}`,
      ...(baseline === undefined ? [] : [`"baseline": ${listText(baseline)}`]),
    ]
    const evaluations = this.#count === 0 ? '{ "evaluations": []' : '\n]'
    await write(this.#stdout, `${evaluations},\n${parts.join(',\n')} }\n`)
  }
}

function toReported({ scorer, score, judge }: Evaluation): Omit<ReportedEvaluation, 'runId'> {
  const about = { scorer: scorer.id, version: scorer.version.slice(0, 8), status: score.status }
  const asked = judge === undefined ? {} : { judge }
  if (score.status === 'skipped') return { ...about, reason: score.reason, message: score.message, ...asked }
  if (score.status === 'failed') return { ...about, reason: score.code, message: score.message, ...asked }
  const { value, label, explanation } = score
  return { ...about, value, label, ...(explanation !== undefined && { explanation }), ...asked }
}

function toSummary({ agent, tally }: TallyRow): unknown {
  return {
    agent,
    scorer: tally.scorer.id,
    scored: tally.scored,
    ...tally.mean(),
    passed: tally.passed,
    skipped: countsOf(tally.skipped),
    failed: countsOf(tally.failed),
    worst: tally.worst,
  }
}

function countsOf(counts: ReadonlyMap<string, ReasonCount>): Readonly<Record<string, number>> {
  return Object.fromEntries([...counts].map(([reason, { count }]) => [reason, count]))
}

function listText(items: readonly unknown[]): string {
  return items.length === 0 ? '[]' : `[\n${items.map((item) => safeJson(JSON.stringify(item))).join(',\n')}\n]`
}
