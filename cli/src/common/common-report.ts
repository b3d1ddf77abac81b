import type { ChangedTrait, CommonTrait, CommonTraits } from '../../../src/traits/common-traits.ts'
import { traitText } from '../../../src/traits/trait.ts'
import type { Trait } from '../../../src/traits/trait.ts'
import type { Paint } from '../output.ts'
import { safeLine, wrap } from '../text.ts'

/** What failing runs have in common, with everything that a report says beside it. */
export interface CommonReport {
  readonly scorer: string
  /** When the compared runs begin; absent if all runs are compared. */
  readonly sinceMs?: number | undefined
  /** Runs without a label of the scorer. */
  readonly unscored: number
  readonly changed: readonly ChangedTrait[]
  readonly found: CommonTraits
}

/** `{ scorer, since, runs, failing, … }`: shares are from 0 to 1, `since` is an ISO time. */
export function toCommonJson({ scorer, sinceMs, unscored, changed, found }: CommonReport): string {
  const { runs, failing, before, common, left, needed } = found
  return JSON.stringify(
    {
      scorer,
      since: sinceMs === undefined ? null : new Date(sinceMs).toISOString(),
      runs,
      failing,
      unscored,
      before: before ?? null,
      changed: changed.map(({ trait, from, to }) => ({ trait: traitText(trait), from, to })),
      common: common.map(toJson),
      left,
      ...(needed !== undefined && { needed }),
    },
    null,
    2,
  )
}

function toJson({ traits, and, evidence: _evidence, runsBefore: _runsBefore, ...line }: CommonTrait): unknown {
  return {
    traits: traits.map(traitText),
    and: and === undefined ? null : { ...and, trait: traitText(and.trait) },
    ...line,
    rateBefore: line.rateBefore ?? null,
  }
}

/** One line of a report: its indentation, and its text, which is trusted only after `safeLine`. */
interface Line {
  readonly indent: number
  readonly text: string
  readonly isHeading?: true
}

/** The report for a terminal. */
export function renderCommon(report: CommonReport, { columns, paint }: { columns: number; paint: Paint }): string {
  return [...headLines(report), ...commonLines(report.found)]
    .flatMap(({ indent, text, isHeading }) =>
      wrap(safeLine(text), columns - indent, MAX_LINES).map((line, index) => {
        const shown = isHeading === true ? paint('bold', line) : line
        return `${' '.repeat(indent + (index === 0 ? 0 : 2))}${shown}`
      }),
    )
    .join('\n')
}

const MAX_LINES = 12

/** The report as Markdown of GitHub and GitLab. */
export function commonMarkdown(report: CommonReport): string {
  return [...headLines(report), ...commonLines(report.found)]
    .map(({ indent, text, isHeading }) => {
      const plain = asPlain(safeLine(text))
      return isHeading === true ? `\n**${plain}**\n` : `${indent === 0 ? '' : `${' '.repeat(indent - 2)}- `}${plain}`
    })
    .join('\n')
    .trim()
}

/** Text of spans in Markdown: no marks, no mentions, no links. */
export function asPlain(text: string): string {
  return text.toWellFormed().replaceAll(/[\\`*_<>@#[\]|~]/g, (mark) => `&#${mark.charCodeAt(0)};`)
}

function headLines({ scorer, sinceMs, unscored, changed, found }: CommonReport): readonly Line[] {
  const since = sinceMs === undefined ? '' : ` since ${new Date(sinceMs).toISOString().replace('.000', '')}`
  const { runs, failing, rate, before } = found
  const past = before === undefined ? '' : ` Before: ${percent(before.rate)} of ${counted(before.runs)}.`
  const rest =
    unscored === 0 ? '' : ` ${counted(unscored)} without a score of it ${unscored === 1 ? 'is' : 'are'} left out.`
  return [
    {
      indent: 0,
      text: `${scorer}: ${percent(rate)} of ${counted(runs)}${since} fail (${failing.toLocaleString('en')}).${past}${rest}`,
    },
    ...(changed.length === 0
      ? []
      : [
          { indent: 0, text: 'What changed among all runs', isHeading: true as const },
          ...changed.map(({ trait, from, to }) => ({
            indent: 2,
            text: `${nameOf(trait)}: ${percent(from)} → ${percent(to)} of the runs`,
          })),
        ]),
    { indent: 0, text: 'What the failing runs have in common', isHeading: true },
  ]
}

/** What the failing runs have in common, as lines of text. */
export function commonLines(found: CommonTraits): readonly Line[] {
  const { common, left, needed } = found
  if (common.length === 0) return [{ indent: 2, text: nothingFound(needed) }]
  return [
    ...common.flatMap((line, index) => [
      { indent: 2, text: `${index + 1}. ${sentenceOf(line)}` },
      ...moreOf(line).map((text) => ({ indent: 5, text })),
    ]),
    {
      indent: 2,
      text: `Left: ${counted(left.runs)}${left.runs === 0 ? '' : `, of which ${percent(left.rate)} fail`}.`,
    },
  ]
}

/** One sentence with the rates of a line. */
export function sentenceOf({ traits, runs, rate, rateWithout, rateBefore, coverage, failing }: CommonTrait): string {
  const [first] = traits
  const before = rateBefore === undefined ? '' : `; before: ${percent(rateBefore)}`
  return (
    `${first === undefined ? '' : nameOf(first)}: ${failing.toLocaleString('en')} of its ${counted(runs)} fail (${percent(rate)}${before}), ` +
    `of the others ${percent(rateWithout)}; ${percent(coverage)} of the failing runs have it.`
  )
}

function moreOf({ traits, and, examples }: CommonTrait): readonly string[] {
  const same = traits.slice(1)
  return [
    ...(same.length === 0 ? [] : [`The same failing runs: ${same.map(nameOf).join('; ')}.`]),
    ...(and === undefined
      ? []
      : [
          `Mostly those with ${nameOf(and.trait)}: ${percent(and.rate)} of ${counted(and.runs)} fail, of the rest ${percent(and.rateWithout)}.`,
        ]),
    `For example ${examples.join(', ')}.`,
  ]
}

function nothingFound(needed: number | undefined): string {
  return needed === undefined
    ? 'Nothing that the spans record.'
    : `Too few failing runs to say: about ${needed.toLocaleString('en')} are needed to find something that half of them have, and one in five of all runs.`
}

function nameOf(trait: Trait): string {
  return trait.isSymptom === true && trait.value === 'fail'
    ? `${trait.key} fails, too (another scorer)`
    : traitText(trait)
}

function counted(runs: number): string {
  return `${runs.toLocaleString('en')} ${runs === 1 ? 'run' : 'runs'}`
}

/** A share as per cent: `95 %`, `3.7 %`. */
function percent(share: number): string {
  const hundredths = 100 * share
  return `${hundredths > 0 && hundredths < 10 ? Number(hundredths.toFixed(1)) : Math.round(hundredths)} %`
}
