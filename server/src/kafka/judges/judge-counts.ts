/** Why the judge of a job is not asked, beside what its budget says. */
export type UnaskedReason = 'expired' | 'unknown-scorer' | 'unknown-version'

/** What a judge worker counts: each job that it begins ends in one of these, or is begun again by the next owner of its partition. */
export interface JudgeCounts {
  /** Jobs whose judge was asked, and gave a score or failed. */
  asked: number
  /** Jobs that were turned down before their judge was asked, by the reason that their score gives: mostly `thinned` or `refused`. */
  readonly turnedDown: Map<string, number>
  /** Jobs that were on the topic twice. */
  duplicates: number
  readonly unasked: Record<UnaskedReason, number>
  /** Messages that are no jobs and were put aside. */
  dead: number
  /** Jobs that the broker dropped before they were read. */
  lostToRetention: number
  /** How often a provider was overloaded or away, so that a job was left for later. */
  left: number
  /** Jobs that another worker asks again, because their partition was given to it meanwhile. */
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
