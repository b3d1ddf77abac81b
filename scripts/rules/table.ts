import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

const share = z.number().gt(0).lt(1)

const goals = z.strictObject({
  /** The mean score that is good enough. */
  mean: share.optional(),
  /** The share of runs with the label `pass` that is good enough. */
  passed: share.optional(),
  /** The largest number of runs that share a cause. */
  together: z.number().min(1).optional(),
  /** What is usual, set by hand: nothing is learnt from the last 14 days, and a measure that is left out is not compared. */
  usual: z
    .strictObject({ mean: share.optional(), passed: share.optional() })
    .refine(({ mean, passed }) => mean !== undefined || passed !== undefined, 'expected mean, passed, or both')
    .optional(),
})

const schema = z.strictObject({
  page: z.number().positive(),
  ticket: z.number().positive(),
  falls: z.array(z.strictObject({ window: z.enum(['15m', '1h', '6h', '1d', '3d']), fall: share })).min(1),
  default: goals.required({ mean: true, passed: true, together: true }),
  scorers: z.array(goals.extend({ scorer: z.string(), agent: z.string().optional() })),
})

/** The content of `collector-config/rules-table.yaml`. */
export type Table = z.infer<typeof schema>

/** The levels that are good enough, and how runs depend on each other. */
export type Goals = z.infer<typeof goals>

/** A window in which a fall is looked for. */
export type Fall = Table['falls'][number]

/** The table's file. */
export const tableFile = resolve(import.meta.dirname, '../../collector-config/rules-table.yaml')

/** Reads the table. @throws an error that names what is wrong in it. */
export function readTable(text: string = readFileSync(tableFile, 'utf8')): Table {
  return schema.parse(parse(text))
}

/** Seconds of a window. */
export const SECONDS: Readonly<Record<string, number>> = {
  '15m': 900,
  '30m': 1800,
  '1h': 3600,
  '2h': 7200,
  '6h': 21_600,
  '1d': 86_400,
  '3d': 259_200,
}

/** The last twelfth of each window that is longer than an hour: only while it is bad, too, does the window page. */
export const TWELFTH: Readonly<Record<string, string>> = { '6h': '30m', '1d': '2h', '3d': '6h' }

/** The highest level that is assumed: at 1, a single bad run would be proof. */
export const BEST = 0.99

/** The lowest level that a fall may lead to. */
export const LEAST = 0.02

/** The evidence, in nats, above which the usual level is not learnt. */
export const FREEZE = 3

/** The effective number of runs (Kish) that a usual level needs. */
export const ENOUGH = 200
