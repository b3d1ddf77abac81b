/** What one build did with one case. Two builds agree on a case if all fields but the costs are equal. */
export interface Observation {
  /** The case: unique within its section. */
  readonly key: string
  /** What must be the same, by name. */
  readonly facts: Readonly<Record<string, unknown>>
  /** Counts that are summed up for the section and shown side by side. */
  readonly counts?: Readonly<Record<string, number>>
  /** Costs, shown side by side and never compared for equality: milliseconds of processor time, mebibytes. */
  readonly costs?: Readonly<Record<string, number>>
}
