import { deflateRawSync, inflateRawSync } from 'node:zlib'

import type { BudgetHistory } from 'spanscore/engine'
import { z } from 'zod'

const amounts = z.array(z.number().min(0)).max(100)

const historySchema = z.strictObject({
  atMs: z.number(),
  limits: z.record(
    z.string(),
    z.strictObject({
      windowMs: z.number().gt(0),
      spent: z.array(z.number()).max(100),
      wanted: amounts,
      free: amounts,
      takenShare: z.number().min(0),
      reservedPerScore: z.number().min(0),
      remembered: z.number().min(0),
      seenMs: z.number().min(0),
    }),
  ),
})

/** Encodes spending compactly, for the metadata of a commit. */
export function encodeSpending(history: BudgetHistory): string {
  return deflateRawSync(JSON.stringify(history)).toString('base64')
}

/** @returns the spending; `undefined` if the text is invalid */
export function decodeSpending(text: string): BudgetHistory | undefined {
  try {
    return historySchema.parse(JSON.parse(inflateRawSync(Buffer.from(text, 'base64')).toString()))
  } catch {
    return undefined
  }
}
