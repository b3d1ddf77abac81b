import { z } from 'zod'

import type { ServiceOverview } from '../../../server/src/page/answers.ts'
import { startOf } from '../backfill/backfill.ts'
import { UsageError } from '../usage-error.ts'
import type { AnswerFields, Names } from './answer.ts'
import { fieldsIn } from './fields.ts'
import type { Fields } from './fields.ts'
import type { PageClient, PageQuery } from './page-client.ts'

/** What a tool answers from. */
export interface Asked extends Pick<Names, 'quote'> {
  readonly page: PageClient
  readonly overview: ServiceOverview
  /** Where a list goes on that the page gives in parts. */
  readonly after: string | undefined
}

/** What a tool answers. */
export interface ToolAnswer {
  /** One sentence, with names in quotation marks. */
  readonly says: string
  /** The same on the page. */
  readonly link: string | undefined
  /** What the fields are picked from. */
  readonly value: AnswerFields
  /** The field with the list that may go on in another answer, and where it does if the page gives it in parts. */
  readonly list?: string
  readonly next?: string | undefined
}

/** A tool. None of them changes anything. */
export interface Tool<Input extends z.ZodRawShape = z.ZodRawShape> {
  readonly about: string
  readonly input: z.ZodObject<Input>
  readonly output: Fields
  readonly answer: (input: z.output<z.ZodObject<Input>>, asked: Asked) => Promise<ToolAnswer>
}

/** A tool with the types of its arguments. It refuses others. */
export function tool<Input extends z.ZodRawShape>(
  about: string,
  input: Input,
  output: string,
  answer: Tool<Input>['answer'],
): Tool {
  const cursor = argument('next of the answer before; the other arguments stay the same')
  const checked = { input: z.strictObject({ ...input, cursor }), output: fieldsIn(output) }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `answer` gets what the schema has checked
  return { about, ...checked, answer } as unknown as Tool
}

export function argument(about?: string): z.ZodOptional<z.ZodString> {
  const schema = z.string().min(1).max(1000).optional()
  return about === undefined ? schema : schema.describe(about)
}

/** Filters on runs, by the names of the page's interface. */
export const filters = {
  agent: argument('an agent that now lists'),
  service: argument(),
  user: argument('the id of a user'),
  since: argument('runs that ended since then: 30m, 24h, 7d, or a time such as 2026-11-29T20:00:00Z'),
  until: argument('runs that ended before then'),
  trait: argument('a trait that why shows, such as failed tool = refund_order; several on lines of their own'),
}

/**
 * Arguments as the page's interface takes them, and as its views have them in their address. There is no address with a trait or with words,
 * which may be those of strangers.
 */
export function queryOf({
  since,
  until,
  ...given
}: PageQuery & { readonly since?: string | undefined; readonly until?: string | undefined }): {
  readonly query: PageQuery
  readonly address: PageQuery | undefined
} {
  const [fromMs, toMs] = [since, until].map((time) => time && startOf(time, Date.now(), 'since, until'))
  const address = { ...given, since: fromMs && new Date(fromMs).toISOString(), to: toMs }
  const isOpen = given['trait'] === undefined && given['text'] === undefined
  return { query: { ...given, fromMs, toMs }, address: isOpen ? address : undefined }
}

/** The scorer that was asked about, or else the one that surely fails most, as on the page. */
export function chosenScorer({ scorers }: ServiceOverview, given: string | undefined, isOfRuns = false): string {
  const possible = scorers.filter(({ level }) => !isOfRuns || level !== 'conversation')
  const scorer = given ?? possible.toSorted((left, right) => right.failsAtLeast - left.failsAtLeast)[0]?.scorer
  if (scorer === undefined) throw new UsageError('There are no scores yet: doctor says why')
  return scorer
}
