/** What one build did with one case. Two builds agree on a case if their facts are equal. */
export interface Observation {
  /** The case: unique within its section. */
  readonly key: string
  /** What must be the same, by name. */
  readonly facts: Readonly<Record<string, unknown>>
  /** Counts that are summed up for the section and shown side by side. */
  readonly counts?: Readonly<Record<string, number>>
}
