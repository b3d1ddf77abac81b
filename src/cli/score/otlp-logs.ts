import { createWriteStream } from 'node:fs'
import type { WriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import type { Evaluation } from '../../model/score.ts'
import { eventAttributes } from '../../emit/event-attributes.ts'
import type { ExplanationPolicy, ScoreAttributes } from '../../emit/score-attributes.ts'
import { write } from '../output.ts'
import { safeLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'
import type { EvaluatedRun } from './run-scorers.ts'

/** Settings of `OtlpLogFile`. */
export interface OtlpLogFileOptions {
  readonly explanations: ExplanationPolicy
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const INFO = 9
const WARN = 13

/**
 * Writes scores as an application would send them: `gen_ai.evaluation.result` log records in OTLP/JSON, one request a line,
 * for a Collector's otlpjsonfile receiver, a backend's OTLP endpoint, or `spanscore inspect` beside the traces.
 */
export class OtlpLogFile {
  readonly #file: string
  readonly #options: OtlpLogFileOptions
  readonly #stream: WriteStream
  #error: Error | undefined

  constructor(file: string, options: OtlpLogFileOptions) {
    this.#file = file
    this.#options = options
    this.#stream = createWriteStream(file)
    this.#stream.on('error', (error) => {
      this.#error = error
    })
  }

  /** @throws UsageError where the file cannot be written. */
  async add(scored: EvaluatedRun): Promise<void> {
    this.#check()
    const records = scored.evaluations
      .filter(({ score }) => score.status !== 'skipped')
      .map((evaluation) => this.#toRecord(evaluation, scored))
    if (records.length === 0) return
    const request = {
      resourceLogs: [
        {
          resource: { attributes: toAttributes(scored.run.resource) },
          scopeLogs: [{ scope: { name: 'spanscore' }, logRecords: records }],
        },
      ],
    }
    await write(this.#stream, `${JSON.stringify(request)}\n`)
  }

  /** @throws UsageError where not everything could be written. */
  async end(): Promise<void> {
    this.#stream.end()
    try {
      await finished(this.#stream)
    } catch (error) {
      this.#error ??= error instanceof Error ? error : new Error(String(error))
    }
    this.#check()
  }

  #check(): void {
    if (this.#error === undefined) return
    throw new UsageError(`--out: cannot write ${safeLine(this.#file)}: ${this.#error.message}`)
  }

  #toRecord(evaluation: Evaluation, { run }: EvaluatedRun): unknown {
    const nowMs = this.#options.now()
    const { explanations } = this.#options
    const isFailed = evaluation.score.status === 'failed'
    return {
      timeUnixNano: toNanoseconds(run.endTimeMs),
      observedTimeUnixNano: toNanoseconds(nowMs),
      severityNumber: isFailed ? WARN : INFO,
      severityText: isFailed ? 'WARN' : 'INFO',
      eventName: 'gen_ai.evaluation.result',
      traceId: run.traceId,
      spanId: run.spanId,
      attributes: toAttributes(
        eventAttributes(evaluation, run, {
          rules: { explanations, stripContent: false },
          verdictTimeMs: nowMs,
          extra: {},
        }),
      ),
    }
  }
}

/** Whole microseconds: a number holds no more of a time since the epoch. */
function toNanoseconds(milliseconds: number): string {
  return Number.isFinite(milliseconds) ? `${BigInt(Math.round(milliseconds * 1000)) * 1000n}` : '0'
}

function toAttributes(attributes: ScoreAttributes | Readonly<Record<string, unknown>>): unknown[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    const anyValue = toAnyValue(value)
    return anyValue === undefined ? [] : [{ key, value: anyValue }]
  })
}

/** Scores are doubles, whole ones too: backends fix a column's type by its first value. */
function toAnyValue(value: unknown): unknown {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number') return { doubleValue: value }
  if (Array.isArray(value)) return { arrayValue: { values: value.map((item) => toAnyValue(item) ?? {}) } }
  return undefined
}
