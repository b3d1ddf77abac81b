import type { Now, NowRow } from '../../../src/page/store/now.ts'
import { clock, percent, plural } from '../format.ts'

type Cell = NowRow['cells'][number]

/** What got worse: an agent, and the scorer by which it did. */
export interface Worst {
  readonly row: NowRow
  readonly cell: Cell
}

/** The first line: what got worse, or what keeps it from being known that all is well. */
export function headline({ unknown, fromMs, rows, before }: Now, worst: Worst | undefined, isOfFiles: boolean): string {
  if (worst !== undefined) {
    const { row, cell } = worst
    const more = rows.filter(({ cells }) => cells.some(({ state }) => state === 'worse')).length - 1
    return `▲ ${row.agent ?? 'Other agents'} got worse${cell.sinceMs === undefined ? '' : ` about ${clock(cell.sinceMs)}`}: ${cell.scorer} fails ${percent(cell.failingSince ?? cell.failing.mean)}${cell.change === undefined ? '' : ` (before ${percent(cell.change.before)})`}${more > 0 ? `, and ${plural(more, 'more agent')}` : ''}`
  }
  if (isOfFiles) return `${plural(rows.length, 'agent')} in these files`
  if (unknown.length > 0) {
    const worse = before === undefined ? 'Not all' : `Nothing got worse since ${clock(fromMs)}, but not all`
    return `${worse} is known: ${unknownText(unknown[0])}`
  }
  return rows.length === 0 ? `No runs since ${clock(fromMs)}` : `✓ All well since ${clock(fromMs)}`
}

function unknownText(fact: Now['unknown'][number] | undefined): string {
  if (fact === undefined) return ''
  if (fact.kind === 'nothing-before') return 'there are no earlier runs to compare with'
  if (fact.kind === 'drawn')
    return `${plural(fact.runs, 'run')} of ${fact.scorer} ${fact.runs === 1 ? 'was' : 'were'} drawn to be labelled`
  const [first = '', ...more] = fact.agents
  if (fact.kind === 'silent-scorer') {
    const of = more.length === 0 ? first : `${fact.agents.length} agents`
    const said = fact.gaveBefore ? `gives no scores of ${of} any more` : `gave no score of ${of}`
    return `${fact.scorer} ${said}${fact.reason === undefined ? '' : `: ${fact.reason}`}`
  }
  return `${more.length === 0 ? `${first} has` : `${fact.agents.length} agents have`} fewer than ${fact.fewerThan} scored runs`
}

/** Scorers that gave no score, a line each cause, but for the one that the headline names. */
export function silences({ unknown }: Now, worst: Worst | undefined, isOfFiles: boolean): readonly string[] {
  const others = worst === undefined && !isOfFiles ? unknown.slice(1) : unknown
  const silent = others.filter((fact) => fact.kind === 'silent-scorer')
  const causes = Map.groupBy(silent, (fact) => unknownText({ ...fact, scorer: '' }))
  return [...causes].map(([said, facts]) => {
    const names = facts.map(({ scorer }) => scorer).join(', ')
    return names + (facts.length === 1 ? said : said.replace(/^ gives/, ' give'))
  })
}

/** Scorers of which runs are left out until they are labelled. */
export function draws({ unknown }: Pick<Now, 'unknown'>) {
  return unknown.filter((fact) => fact.kind === 'drawn')
}

/** How many scorers have no column, and how many of them fail runs, unless runs of theirs are left out. */
export function moreScorers(scorers: readonly string[], { rows, unknown }: Pick<Now, 'rows' | 'unknown'>): string {
  const fails = (scorer: string) =>
    rows.some(({ cells }) => cells.some((cell) => cell.scorer === scorer && cell.failing.mean > 0))
  const failing = scorers.filter(fails).length
  const more = `${plural(scorers.length, 'scorer')} more`
  if (failing > 0) return `${more}, ${failing} with failures`
  return draws({ unknown }).some(({ scorer }) => scorers.includes(scorer)) ? more : `${more}, without failures`
}
