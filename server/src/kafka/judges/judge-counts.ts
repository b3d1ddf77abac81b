/** Why the judge of a job is not asked, besides its budget. */
export type UnaskedReason = 'expired' | 'unknown-scorer' | 'unknown-version'

/** The counts of a judge worker. Each started job ends in one of these, or is started again by the partition's next owner. */
export interface JudgeCounts {
  /** Jobs whose judge was asked, successfully or not. */
  asked: number
  /** Jobs that were rejected before asking the judge, by the reason of their score: mostly `thinned` or `refused`. */
  readonly turnedDown: Map<string, number>
  /** Jobs that were on the topic twice. */
  duplicates: number
  readonly unasked: Record<UnaskedReason, number>
  /** Messages that are not jobs and were moved to the dead-letter topic. */
  dead: number
  /** Jobs that the broker dropped before they were done. */
  lostToRetention: number
  /** How often a provider was overloaded or unavailable, so that a job was postponed. */
  left: number
  /** Jobs that another worker asks again, because it now has their partition. */
  abandoned: number
}

export function zeroCounts(): JudgeCounts {
  return {
    asked: 0,
    turnedDown: new Map([
      ['thinned', 0],
      ['refused', 0],
    ]),
    duplicates: 0,
    unasked: { expired: 0, 'unknown-scorer': 0, 'unknown-version': 0 },
    dead: 0,
    lostToRetention: 0,
    left: 0,
    abandoned: 0,
  }
}
