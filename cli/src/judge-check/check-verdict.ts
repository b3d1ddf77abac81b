import type { CheckedCase } from './check-judge.ts'

/** What can be said of a judge after all cases. */
export interface CheckVerdict {
  /**
   * `reliable`: the judge is right in at least nine of ten cases, also of each scorer with ten cases or more. `mixed`: it tells good runs from bad ones, with errors. `praises`: it
   * passes nearly everything. `rejects`: it fails nearly everything. `random`: its labels have little to do with the runs. `silent`: half
   * of the cases or more have no score.
   */
  readonly kind: 'reliable' | 'mixed' | 'praises' | 'rejects' | 'random' | 'silent'
  /** One sentence for people. */
  readonly text: string
}

/** The least share of right labels of a reliable judge. */
const RELIABLE = 0.9
/** The least number of cases of a scorer by which the judge is judged, too. */
const ENOUGH = 10
/** Below this, the two shares of passed runs are so near to each other that the labels say little about the runs. */
const LEAST_DIFFERENCE = 0.4
/** From this share on, a judge that cannot tell runs apart is said to give one label to nearly everything. */
const NEARLY_ALL = 0.85

/** Judges the judge: how many good runs it passes, and how many bad ones. */
export function toCheckVerdict(checked: readonly CheckedCase[]): CheckVerdict {
  const asked = checked.filter(({ outcome }) => outcome !== 'not-asked')
  const scored = asked.filter(({ outcome }) => outcome !== 'no-score')
  const right = rightOf(scored)
  const good = passedOf(scored, 'pass')
  const bad = passedOf(scored, 'fail')
  const counts = `It passed ${good.passed} of ${good.all} good runs and ${bad.passed} of ${bad.all} bad ones`
  if (scored.length * 2 <= asked.length) {
    const missing = asked.length - scored.length
    return {
      kind: 'silent',
      text: `This judge gave no score in ${missing} of ${asked.length} cases, for the reasons that are listed.`,
    }
  }
  const difference = share(good) - share(bad)
  if (difference < LEAST_DIFFERENCE) {
    const passed = (good.passed + bad.passed) / scored.length
    if (passed >= NEARLY_ALL)
      return { kind: 'praises', text: `This judge passes nearly everything. ${counts}. Do not use it.` }
    if (passed <= 1 - NEARLY_ALL)
      return { kind: 'rejects', text: `This judge fails nearly everything. ${counts}. Do not use it.` }
    return { kind: 'random', text: `This judge does not tell good runs from bad ones. ${counts}. Do not use it.` }
  }
  const weak = [...Map.groupBy(asked, (each) => each.case.scorer)]
    .filter(([, own]) => own.length >= ENOUGH && rightOf(own) < RELIABLE * own.length)
    .map(([scorer, own]) => `${scorer} (${rightOf(own)} of ${own.length})`)
  if (right >= RELIABLE * asked.length && weak.length === 0) {
    return { kind: 'reliable', text: `This judge is right in ${right} of ${asked.length} cases. ${counts}.` }
  }
  return {
    kind: 'mixed',
    text: `This judge is right in ${weak.length === 0 ? 'only ' : ''}${right} of ${asked.length} cases${weak.length === 0 ? '' : `, and weak in ${weak.join(', ')}`}. ${counts}. Use a stronger model, or only the scorers that it is right about.`,
  }
}

function rightOf(checked: readonly CheckedCase[]): number {
  return checked.filter(({ outcome }) => outcome === 'right').length
}

interface Passed {
  readonly passed: number
  readonly all: number
}

function passedOf(scored: readonly CheckedCase[], expect: 'pass' | 'fail'): Passed {
  const those = scored.filter((each) => each.case.expect === expect)
  const passed = those.filter(({ outcome }) => (outcome === 'right') === (expect === 'pass')).length
  return { passed, all: those.length }
}

function share({ passed, all }: Passed): number {
  return all === 0 ? 0 : passed / all
}
