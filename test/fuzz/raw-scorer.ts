import type { Scorer } from 'spanscore'

/** What a scorer of the fuzz does. */
export interface RawScorer {
  readonly id: string
  readonly kind: 'code' | 'judge'
  /** Whether it may run while a span is ending. */
  readonly inline: boolean
  /** What it does instead of scoring, or in addition to it. */
  readonly assess: unknown
  readonly estimate?: unknown
  readonly unavailable?: unknown
}

/** A scorer that is written by hand, without any of the checks of `createScorer`. */
export function rawScorer({ id, kind, inline, assess, ...judge }: RawScorer): Scorer {
  const { estimate = () => ({ calls: 1, tokens: 10 }), unavailable = () => undefined } = judge
  const scorer = {
    id,
    description: id,
    kind,
    level: 'run',
    range: [0, 1],
    better: 'higher',
    passAt: 0.5,
    version: '1',
    inline,
    needs: [],
    assess,
    run: () => Promise.reject(new Error('not used')),
    ...(kind === 'judge' && { judge: { model: 'fuzz/judge', priced: false, estimate, unavailable } }),
  }
  return scorer as unknown as Scorer
}
