import { RUN_LISTS } from '../../../src/model/facts.ts'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { JudgeIdentity } from '../calibration/calibration.ts'
import type { JudgedRun } from '../calibration/calibrator.ts'
import type { AgentRun } from '../../../src/model/agent-run.ts'
import { tryParse } from '../../../src/otlp/pending-document.ts'
import { isRecord } from '../../../src/spans/json.ts'
import { sizeOf } from '../read-files.ts'
import { safeJson, safeLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'

/** A labelled run that is to be judged again. It holds the run's content. */
export interface CanaryRun extends JudgeIdentity {
  /** The verdict of people. */
  readonly label: 'pass' | 'fail'
  readonly run: AgentRun
}

/** A line of the file that `spanscore calibrate --canary` writes. */
export function canaryLine(
  { scorer, version, judgeModel }: JudgedRun,
  label: CanaryRun['label'],
  run: AgentRun,
): string {
  return `${safeJson(JSON.stringify({ scorer, version, judgeModel, label, run } satisfies CanaryRun))}\n`
}

/**
 * Reads the files of labelled runs.
 *
 * @throws UsageError if one cannot be read, or a line is not a labelled run.
 */
export async function readCanaryRuns(files: readonly string[]): Promise<readonly CanaryRun[]> {
  const runs: CanaryRun[] = []
  for (const file of files) {
    sizeOf(file)
    let number = 0
    for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
      number++
      if (text.trim() === '') continue
      const value = tryParse(text)
      if (!isCanaryRun(value)) {
        throw new UsageError(
          `${safeLine(file)}, line ${number}: expected a labelled run, as spanscore calibrate --canary FILE writes it`,
        )
      }
      runs.push(value)
    }
  }
  if (runs.length > 0) return runs
  throw new UsageError(`no labelled run in ${files.map(safeLine).join(', ')}`)
}

function isCanaryRun(value: unknown): value is CanaryRun {
  if (!isRecord(value)) return false
  const { scorer, version, judgeModel, label, run } = value
  return (
    typeof scorer === 'string' &&
    typeof version === 'string' &&
    (judgeModel === undefined || typeof judgeModel === 'string') &&
    (label === 'pass' || label === 'fail') &&
    isRecord(run) &&
    typeof run.id === 'string' &&
    isRecord(run.agent) &&
    RUN_LISTS.every((name) => Array.isArray(run[name]))
  )
}
