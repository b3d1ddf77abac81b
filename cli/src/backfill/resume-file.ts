import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

import { isRecord } from '../../../src/spans/json.ts'
import { UsageError } from '../usage-error.ts'
import type { TimeRange } from './time-slices.ts'

/** What a backfill reads and where it sends scores; another one cannot continue it. */
export interface BackfillOf {
  readonly from: string
  readonly query: string | null
  readonly to: string | null
}

/** Notes up to which time all scores of a backfill were sent. */
export class ResumeFile {
  readonly #path: string | undefined
  readonly #of: BackfillOf
  /** What is to be read. */
  readonly range: TimeRange
  #doneMs: number

  /**
   * @param path `undefined` notes nothing
   * @param range what is read if nothing was noted yet
   * @throws UsageError if the file belongs to another backfill
   */
  constructor(path: string | undefined, of: BackfillOf, range: TimeRange) {
    this.#path = path
    this.#of = of
    const noted = path !== undefined && existsSync(path) ? readNoted(path, of) : undefined
    this.range = noted ?? range
    this.#doneMs = noted?.doneMs ?? range.fromMs
  }

  /** The part of the range that is not done. */
  get rest(): TimeRange {
    return { fromMs: this.#doneMs, toMs: this.range.toMs }
  }

  /** All scores of runs up to this time were sent. */
  done(doneMs: number): void {
    this.#doneMs = doneMs
    if (this.#path === undefined) return
    // A file that is written anew may be empty after a kill.
    const next = `${this.#path}.next`
    writeFileSync(next, `${JSON.stringify({ ...this.#of, ...this.range, doneMs })}\n`)
    renameSync(next, this.#path)
  }
}

function readNoted(path: string, of: BackfillOf): TimeRange & { readonly doneMs: number } {
  const noted: unknown = parsed(path)
  if (!isRecord(noted)) throw new UsageError(`--resume ${path}: expected a file that --resume wrote, got another one`)
  const { from, query, to, fromMs, toMs, doneMs } = noted
  if (from !== of.from || query !== of.query || to !== of.to) {
    throw new UsageError(
      `--resume ${path}: expected the same --from, --query and --to as before, got others; delete the file to start anew`,
    )
  }
  return { fromMs: Number(fromMs), toMs: Number(toMs), doneMs: Number(doneMs) }
}

function parsed(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}
