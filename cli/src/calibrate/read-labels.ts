import { createReadStream, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Label, LabelLine } from '../../../src/cases/labels.ts'
import { labelLineSchema } from '../../../src/cases/labels.ts'
import { tryParse } from '../../../src/otlp/pending-document.ts'
import { isRecord } from '../../../src/spans/json.ts'
import { sizeOf } from '../read-files.ts'
import { safeLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'

/** The contents of label files. */
export interface LabelFiles {
  /** The labels of each score, from one or several people. */
  readonly byScore: ReadonlyMap<string, readonly Label[]>
  /** Number of lines that nobody has filled in. */
  readonly open: number
  /** Scores that have a line, labelled or not. */
  readonly drawn: ReadonlySet<string>
}

/** A map key for the score that a label belongs to. */
export function scoreOf({ runId, scorer }: Pick<Label, 'runId' | 'scorer'>): string {
  return `${runId} ${scorer}`
}

/**
 * Reads labels: JSON Lines, as `spanscore calibrate draw` writes them and people fill them in.
 *
 * @param labeller The labeller of lines that do not name one.
 * @throws UsageError if a file cannot be read, a line is no label, or one person has labelled a score twice, differently.
 */
export async function readLabels(files: readonly string[], labeller: string | undefined): Promise<LabelFiles> {
  const byScore = new Map<string, Label[]>()
  const drawn = new Set<string>()
  let open = 0
  for (const file of files) {
    sizeOf(file)
    // A line without a date counts as filled in when the file was saved.
    const savedAt = statSync(file).mtime.toISOString()
    let number = 0
    for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
      number++
      if (text.trim() === '') continue
      const place = `${safeLine(file)}, line ${number}`
      const line = toLine(text, place)
      drawn.add(scoreOf(line))
      if (line.label === null) {
        open++
        continue
      }
      const who = line.labeller?.trim() || labeller
      if (who === undefined) {
        throw new UsageError(
          `${place}: expected the name of the labeller in "labeller", or for all lines in --labeller NAME, got neither`,
        )
      }
      const label: Label = { ...line, label: line.label, labeller: who, labelledAt: line.labelledAt ?? savedAt }
      keep(byScore, label, place)
    }
  }
  return { byScore, open, drawn }
}

function keep(byScore: Map<string, Label[]>, label: Label, place: string): void {
  const known = byScore.get(scoreOf(label)) ?? []
  byScore.set(scoreOf(label), known)
  const before = known.find(({ labeller, version }) => labeller === label.labeller && version === label.version)
  if (before === undefined) {
    known.push(label)
    return
  }
  if (before.label === label.label) return
  throw new UsageError(
    `${place}: ${label.labeller} labels ${label.scorer} of run ${label.runId} ${label.label} here and ${before.label} before; ` +
      'keep the right one, or name another labeller in the second',
  )
}

function toLine(text: string, place: string): LabelLine {
  const value = tryParse(text)
  if (!isRecord(value)) {
    throw new UsageError(`${place}: expected a label as a JSON object on one line, got ${safeLine(text.slice(0, 60))}`)
  }
  if ('value' in value && 'name' in value && !('scorer' in value)) {
    throw new UsageError(
      `${place}: expected a label, got a user's feedback; runs with feedback are no random sample: spanscore calibrate draw draws the runs to label`,
    )
  }
  const { data, error } = labelLineSchema.safeParse(value)
  if (data !== undefined) return data
  const missing = error.issues.map(({ path }) => path.join('.')).filter((field) => !(field in value))
  if (missing.length > 0)
    throw new UsageError(
      `${place}: expected a label with ${missing.join(', ')}, as spanscore calibrate draw writes it, got none`,
    )
  const [issue] = error.issues
  const path = issue?.path.join('.') ?? ''
  const what = (issue?.message ?? 'not a label').replace(/^Invalid input: /, '').replace(/, received .*$/, '')
  const got = JSON.stringify(value[path])?.slice(0, 60)
  throw new UsageError(`${place}: ${safeLine(`${path}: ${what}, got ${got}`)}`)
}
