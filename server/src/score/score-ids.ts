export { scoreIds, toSpanSet } from 'spanscore/engine'
export type { ScoreIds, SpanSet } from 'spanscore/engine'
