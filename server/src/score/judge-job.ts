import type { HandedRun, Skipped } from 'spanscore/engine'
import { z } from 'zod'

import type { ScoreIds } from './score-ids.ts'
import type { ExtraAttributes, ServiceResource } from './score-outputs.ts'

/** One question to a judge in another process, with everything needed to write its score. */
export interface JudgeJob extends HandedRun {
  readonly ids: ScoreIds
  /** The number of the run's spans. */
  readonly revision: number
  /** False if an earlier revision was counted: the score is written but not counted again. */
  readonly isCounted: boolean
  /** The resource of the run's service. Scores are written with it, whatever was redacted. */
  readonly resource: ServiceResource
  readonly extra: ExtraAttributes
}

/** The destination of jobs. */
export interface JudgeJobs {
  /** Whether scoring should pause because too many jobs wait. */
  readonly isFull: boolean
  /** Resolves when the job is stored, or to the reason why it cannot be. Never rejects. */
  write(job: JudgeJob): Promise<Skipped | undefined>
}

/** A job that was read. */
export interface ReadJob {
  readonly job: JudgeJob
  /** Identifies the configuration of the writing process. */
  readonly configHash: string
}

/** Increases when older readers would misread a job. */
const FORMAT = 1

/**
 * Writes a job.
 *
 * @returns JSON
 */
export function encodeJob(job: JudgeJob, configHash: string): Buffer {
  return Buffer.from(JSON.stringify({ format: FORMAT, configHash, ...job }))
}

/** @throws Error if it is not a job, or has another format: what was expected, and what came, without content */
export function decodeJob(bytes: Uint8Array): ReadJob {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
  } catch {
    throw new Error('Expected a job in JSON, got bytes that do not parse.')
  }
  const parsed = jobSchema.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new Error(`Expected a job of format ${FORMAT}, got one with a wrong ${issue?.path.join('.') ?? 'shape'}.`)
  }
  const { format: _format, configHash, ...job } = parsed.data
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of the run, what scoring goes through was checked
  return { job: { ...job, upstreamProbability: job.upstreamProbability } as unknown as JudgeJob, configHash }
}

const id = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`))

const probability = z.number().gt(0).max(1)

const run = z.looseObject({
  id: z.string(),
  traceId: id(32),
  spanId: id(16),
  agent: z.looseObject({}),
  input: z.array(z.looseObject({})),
  toolCalls: z.array(z.looseObject({ name: z.string() })),
  steps: z.array(z.looseObject({})),
  children: z.array(z.looseObject({})),
  models: z.array(z.string()),
  missing: z.array(z.looseObject({})),
  attributes: z.record(z.string(), z.unknown()),
  resource: z.record(z.string(), z.unknown()),
  startTimeMs: z.number(),
  endTimeMs: z.number(),
  complete: z.boolean(),
  revision: z.number(),
})

const jobSchema = z.strictObject({
  format: z.literal(FORMAT),
  configHash: z.string(),
  run,
  scorer: z.strictObject({
    id: z.string().regex(/^[a-z][a-z0-9_]*$/),
    version: z.string(),
    kind: z.literal('judge'),
    range: z.tuple([z.number(), z.number()]),
    better: z.enum(['higher', 'lower']),
    passAt: z.number(),
  }),
  rate: probability,
  point: z.number().min(0).lt(1),
  upstreamProbability: probability.optional(),
  ids: z.strictObject({ key: id(32), id: id(32), spanId: id(16) }),
  revision: z.int().min(1),
  isCounted: z.boolean(),
  resource: z.record(z.string(), z.unknown()),
  extra: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
})
