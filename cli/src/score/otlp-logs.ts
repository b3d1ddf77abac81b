import { createWriteStream } from 'node:fs'
import type { WriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { scoresAsOtlp } from '../../../src/emit/otlp-json.ts'
import type { ExplanationPolicy } from '../../../src/attributes/explanation-rules.ts'
import { makeFolderOf, write } from '../output.ts'
import { safeJson, safeLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'
import type { EvaluatedRun } from './run-scorers.ts'

/** Settings of `OtlpLogFile`. */
export interface OtlpLogFileOptions {
  /** Whose explanations are written. */
  readonly explanations: ExplanationPolicy
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * Writes scores as an application would send them: `gen_ai.evaluation.result` log records in OTLP/JSON, one request per line,
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
    makeFolderOf('--out', file)
    this.#stream = createWriteStream(file)
    this.#stream.on('error', (error) => {
      this.#error = error
    })
  }

  /** @throws UsageError if the file cannot be written. */
  async add(scored: EvaluatedRun): Promise<void> {
    this.#check()
    const { run, evaluations } = scored
    const { traceId, spanId, endTimeMs, resource } = run
    const { explanations, now } = this.#options
    const place = { traceId, spanId, endTimeMs, resource, run }
    const request = scoresAsOtlp(place, evaluations, { explanations, nowMs: now() })
    if (request !== undefined) await write(this.#stream, `${safeJson(JSON.stringify(request))}\n`)
  }

  /** @throws UsageError if not everything could be written. */
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
}
