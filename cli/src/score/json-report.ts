import { closeSync, createReadStream, createWriteStream, mkdtempSync, openSync, rmSync } from 'node:fs'
import type { WriteStream } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import type { Evaluation } from '../../../src/model/score.ts'
import { write } from '../output.ts'
import type { OutputStream } from '../output.ts'
import { safeJson } from '../text.ts'
import type { BaselineComparison } from './baseline.ts'
import type { GateResult } from './gates.ts'
import { toReportedScore } from './reported-evaluation.ts'
import type { ReportedEvaluation } from './reported-evaluation.ts'
import { inputKeyOf } from '../../../src/cases/input-key.ts'
import type { EvaluatedRun } from './run-scorers.ts'
import type { ReasonCount, TallyRow } from './tally.ts'

/** The end of a report. */
export interface ReportSummary {
  readonly rows: readonly TallyRow[]
  readonly gates: readonly GateResult[]
  readonly baseline: readonly BaselineComparison[] | undefined
}

/**
 * Writes `{ "gates": […], "summary": […], "evaluations": […] }`. Each evaluation is one line, and waits in a temporary file for the gates,
 * so that the report of a gigabyte of traces can be written, and read again as a baseline, in constant memory.
 */
export class JsonReport {
  readonly #directory = mkdtempSync(join(tmpdir(), 'spanscore-'))
  readonly #descriptor = openSync(join(this.#directory, 'evaluations'), 'w+', 0o600)
  readonly #waiting: WriteStream = createWriteStream('', { fd: this.#descriptor, autoClose: false })
  #count = 0

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
      text += `${this.#count++ === 0 ? '' : ','}\n${safeJson(JSON.stringify(line))}`
    }
    await write(this.#waiting, text)
  }

  async end(stdout: OutputStream, { rows, gates, baseline }: ReportSummary): Promise<void> {
    const parts = [
      `"gates": ${listText(gates)}`,
      `"summary": ${listText(rows.map(toSummary))}`,
      ...(baseline === undefined ? [] : [`"baseline": ${listText(baseline)}`]),
    ]
    await write(stdout, `{ ${parts.join(',\n')},\n"evaluations": [`)
    this.#waiting.end()
    await finished(this.#waiting)
    for await (const bytes of createReadStream('', { fd: this.#descriptor, start: 0, autoClose: false })) {
      await write(stdout, bytes)
    }
    await write(stdout, this.#count === 0 ? '] }\n' : '\n] }\n')
  }

  /** Removes the temporary file. */
  close(): void {
    closeSync(this.#descriptor)
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

function toReported({ scorer, score, judge, calls }: Evaluation): Omit<ReportedEvaluation, 'runId'> {
  const { level } = scorer
  const about = {
    scorer: scorer.id,
    version: scorer.version.slice(0, 8),
    ...(level !== 'run' && { level }),
    ...toReportedScore(score),
  }
  return {
    ...about,
    ...(calls !== undefined && {
      calls: calls.map(({ score: ofCall, ...call }) => ({ ...call, ...toReportedScore(ofCall) })),
    }),
    ...(judge !== undefined && { judge }),
  }
}

function toSummary({ agent, tally }: TallyRow): unknown {
  return {
    agent,
    scorer: tally.scorer.id,
    ...(tally.scorer.level !== 'run' && { level: tally.scorer.level }),
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
