import { contentFree } from '../model/explanation.ts'
import type { AgentRun } from '../model/agent-run.ts'
import { isRecord } from '../spans/json.ts'
import type { Scorer } from '../scoring/scorer.ts'
import { skip } from '../scorers/skip.ts'
import { expectReturned } from '../scorers/expect-returned.ts'
import { expectOption } from '../scorers/read-options.ts'
import { adapt, toVerdict } from './adapter.ts'
import type { AdapterOptions } from './adapter.ts'

/** An autoevals scorer: a function of the output, the expected output, and further arguments. */
export type AutoevalsScorer = (args: never) => unknown

/** Options of `fromAutoevals`. */
export interface FromAutoevalsOptions extends AdapterOptions {
  /** Further arguments of the scorer, such as `{ context }` or `{ criteria }`; they go before `input`, `output` and `expected`. */
  readonly args?: (run: AgentRun) => Readonly<Record<string, unknown>>
}

/** The scorers that do not call a model. */
const COMPUTED: ReadonlySet<string> = new Set([
  'ExactMatch',
  'JSONDiff',
  'Levenshtein',
  'ListContains',
  'NumericDiff',
  'ValidJSON',
])

/**
 * Wraps an autoevals scorer. It is called with `input` (text of the last user message), `output` (the answer's
 * text) and, if there is an expected answer, `expected`. A score of `null` is `skipped: not-applicable`.
 *
 * @example
 * ```ts
 * import { ClosedQA, Levenshtein } from 'autoevals'
 * import { fromAutoevals } from 'spanscore/adapters'
 *
 * const close = fromAutoevals(Levenshtein, { expected: (run) => run.attributes['app.expected_answer'] })
 * const polite = fromAutoevals(ClosedQA.partial({ criteria: 'Is the answer polite?' }), { id: 'polite' })
 * ```
 *
 * @throws TypeError if it is not a function, has no name from which to derive an id, or an option is wrong
 */
export function fromAutoevals(scorer: AutoevalsScorer, options: FromAutoevalsOptions = {}): Scorer {
  expectOption(typeof scorer === 'function', 'fromAutoevals', 'a scorer of autoevals, which is a function', scorer)
  const { args, ...given } = options
  expectOption(args === undefined || typeof args === 'function', 'fromAutoevals', 'options.args to be a function', args)
  const adapted: Scorer = adapt(
    {
      adapter: 'fromAutoevals',
      name: scorer.name,
      description: undefined,
      kind: COMPUTED.has(scorer.name) ? 'code' : 'judge',
      model: undefined,
      // Those that compute compare the output with what is expected.
      mayLack: COMPUTED.has(scorer.name) ? ['input'] : [],
      toInput: (run, expected) => ({
        input: run.userInput,
        output: run.output ?? '',
        ...(expected !== undefined && { expected }),
        ...expectReturned(args?.(run), adapted.id, 'args to return an object', isRecord),
      }),
      score: async (input) => {
        const result: unknown = await Reflect.apply(scorer, undefined, [input])
        if (!isRecord(result)) return toVerdict(adapted.id, result, undefined)
        const { score, metadata } = result
        if (score === null)
          return skip('not-applicable', contentFree(`${adapted.id}: the scorer gave null, which is no score.`))
        return toVerdict(adapted.id, score, isRecord(metadata) ? metadata['rationale'] : undefined, metadata)
      },
    },
    given,
  )
  return adapted
}
