import { plural } from '../../../server/page/src/format.ts'
import { shareText } from '../shares.ts'
import { safeText } from '../text.ts'
import type { BaselineComparison } from './baseline.ts'
import { changeText, everyTry } from './changes.ts'
import type { FailingInCommon } from './failing-in-common.ts'
import { isUnchecked } from './gates.ts'
import type { GateResult } from './gates.ts'
import { numberText, signed } from './number-text.ts'
import type { TallyRow, WorstRun } from './tally.ts'

/** What a summary is made of. */
export interface MarkdownParts {
  readonly rows: readonly TallyRow[]
  /** Scorers that gave no score, and why. */
  readonly unused: readonly string[]
  readonly gates: readonly GateResult[]
  readonly baseline: readonly BaselineComparison[] | undefined
  /** What failing runs have in common. */
  readonly failing: FailingInCommon
  /** Description of how many runs there were. */
  readonly count: string
}

/** GitHub refuses comments above 65,536 characters. */
const MAX_CHARACTERS = 60_000
const MAX_RUN_CHARACTERS = 600

/** Writes a summary for a pull request in the Markdown of GitHub and GitLab: the gates, the scores, and the worst runs. */
export function toMarkdown({ rows, unused, gates, baseline, failing, count }: MarkdownParts): string {
  const failed = gates.filter(({ passed }) => !passed).length
  const verdict =
    gates.length === 0
      ? ''
      : failed === 0
        ? `: ✅ ${plural(gates.length, 'gate')} passed`
        : `: ❌ ${failed} of ${plural(gates.length, 'gate')} failed`
  const head = [
    `### Agent scores${verdict}`,
    gates.map((gate) => `- ${isUnchecked(gate) ? '➖' : gate.passed ? '✅' : '❌'} ${plain(gate.message)}`).join('\n'),
  ]
  const table = fitting([...HEADING, ...rows.map(toLine)], '\n', MAX_CHARACTERS / 3)
  const worst = fitting(rows.flatMap(worstOf), '\n\n', MAX_CHARACTERS / 4)
  const details = worst === '' ? '' : `<details><summary>The worst runs</summary>\n\n${worst}\n\n</details>`
  const parts = [
    ...head,
    newlyFailing(baseline ?? []),
    rows.length === 0 ? '' : table,
    unused.map((line) => `- ⚠️ ${plain(line)}`).join('\n'),
    changesOf(baseline ?? []),
    commonOf(rows, failing),
    details,
    `${plain(count)}.`,
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

const HEADING = [
  '| agent | scorer | failing | scored | mean | 95 % interval | not scored |',
  '| :-- | :-- | --: | --: | --: | --: | :-- |',
]

function toLine({ agent, tally }: TallyRow): string {
  const found = tally.mean()
  const { id, better } = tally.scorer
  const cells = [
    code(agent),
    `${code(id)}${better === 'lower' ? ' (lower is better)' : ''}`,
    tally.scored === 0 ? '' : shareText(1 - tally.passed / tally.scored),
    tally.scored.toLocaleString('en'),
    found === undefined ? '' : numberText(found.mean),
    found === undefined ? '' : found.interval95.map(numberText).join(' to '),
    tally.unscored === 0
      ? ''
      : `${tally.unscored.toLocaleString('en')} (${[...tally.skipped.keys(), ...tally.failed.keys()].map(plain).join(', ')})`,
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`
}

/** The questions that newly fail, with old and new scores and the reason. */
function newlyFailing(baseline: readonly BaselineComparison[]): string {
  const parts = baseline.flatMap(({ scorer, newlyFailing: failures, newFailures }) => [
    ...failures.map(
      (failure) =>
        `**${code(failure.agent)}, ${code(scorer)}**: ${changeText(failure)}\n\n${textOf({ findings: [], ...failure })}`,
    ),
    ...(newFailures > failures.length ? [`${code(scorer)}: ${newFailures - failures.length} more.`] : []),
  ])
  return parts.length === 0 ? '' : `#### Newly failing\n\n${fitting(parts, '\n\n', MAX_CHARACTERS / 4)}`
}

/** What changed since the baseline, by scorer over all agents. */
function changesOf(baseline: readonly BaselineComparison[]): string {
  const lines = baseline.flatMap((comparison) => {
    const { scorer, difference, questions, newFailures, fixed } = comparison
    if (difference === undefined) return []
    const { mean, interval95, pairs } = difference
    const change = `${signed(mean)} (95 %: ${interval95.map(signed).join(' to ')}) over ${plural(pairs, 'pair')} of runs`
    const counts = `of ${plural(questions, 'question')}, ${newFailures} newly failing and ${fixed} fixed`
    return [`- ${[`${code(scorer)}: ${change}`, counts, everyTry(comparison)].filter(Boolean).join('; ')}`]
  })
  return lines.length === 0 ? '' : `Since the baseline:\n\n${lines.join('\n')}`
}

/** What the failing runs of each agent and scorer have in common. */
function commonOf(rows: readonly TallyRow[], failing: FailingInCommon): string {
  const lines = rows.flatMap(({ agent, tally: { scorer } }) =>
    failing.sentences(agent, scorer.id).map((sentence) => `- ${code(agent)}, ${code(scorer.id)}: ${plain(sentence)}`),
  )
  return lines.length === 0
    ? ''
    : `What the failing runs have in common:\n\n${fitting(lines, '\n', MAX_CHARACTERS / 8)}`
}

function worstOf({ agent, tally }: TallyRow): readonly string[] {
  const name = `**${code(agent)}, ${code(tally.scorer.id)}**`
  return tally.worst.map((run) => `${name}: ${numberText(run.value)} of run ${code(run.runId)}\n\n${textOf(run)}`)
}

function textOf({
  userInput,
  explanation,
  findings,
}: Pick<WorstRun, 'userInput' | 'explanation' | 'findings'>): string {
  const texts = [userInput, explanation, ...findings.map((finding) => `· ${finding}`)].flatMap((text) =>
    text === undefined || text === '' ? [] : [cut(text)],
  )
  if (texts.length === 0) return 'It has no explanation.'
  // A block of code shows text of users and models as it is: no links, no mentions.
  const text = texts.join('\n')
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(Math.max(3, longest + 1))
  return `${fence}text\n${text}\n${fence}`
}

function cut(text: string): string {
  const safe = safeText(text).toWellFormed()
  return safe.length > MAX_RUN_CHARACTERS ? `${safe.slice(0, MAX_RUN_CHARACTERS)} …`.toWellFormed() : safe
}

/** As many of the parts as fit, and how many do not. */
function fitting(parts: readonly string[], separator: string, maxCharacters: number): string {
  let characters = 0
  const fits = parts.filter((part) => (characters += part.length + separator.length) <= maxCharacters)
  const left = parts.length - fits.length
  return [fits.join(separator), ...(left === 0 ? [] : [`${left} more are not shown.`])].join('\n\n')
}

/** A name as code, so that it is shown as it is. */
function code(name: string): string {
  return `\`${safeText(name).toWellFormed().replaceAll(/\s+/g, ' ').replaceAll('`', "'")}\``
}

/** A message of ours, which may have names of users in it. */
function plain(text: string): string {
  return safeText(text)
    .toWellFormed()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\\`*<>@[\]|]/g, (mark) => `&#${mark.charCodeAt(0)};`)
}
