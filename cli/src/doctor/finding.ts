import type { Check } from '../../../src/processor/checks/checks.ts'
import type { SetupFacts } from '../../../src/processor/checks/setup-facts.ts'
import type { DoctorLine } from './facts.ts'

/** A line about something that is as it should be. */
export function good(text: string): DoctorLine {
  return { isGood: true, text }
}

/** A line about a problem, with what to do about it. */
export function bad(text: string, cure: string): DoctorLine {
  return { isGood: false, text, cure }
}

/** Facts in which no check finds a problem. */
const NO_FACTS: SetupFacts = {
  nodeVersion: process.version,
  scorers: [],
  runs: 0,
  agents: new Set(),
  withoutContent: [],
  hasNoScore: false,
  exportsSpans: true,
}

/** The lines about what a check finds. */
export function foundBy({ look }: Check, facts: Partial<SetupFacts>): readonly DoctorLine[] {
  return look({ ...NO_FACTS, ...facts }).map(({ text, cure }) => bad(text, cure))
}
