import { literalsOf } from './declarations.ts'
import { code, page, table } from './markdown.ts'
import { oneLine } from './tsdoc.ts'

/** `docs/reference/reasons.md`: why there is no score. */
export function reasonsPage(): string {
  return page(
    'Reasons and codes',
    'Where there is no score, `spanscore.<id>.status` is `skipped` or `failed`, and `.status_reason` is one of these. They are counted in `spanscore.evaluations` and in the ledger.',
    '## Skipped',
    'The scorer was never asked, or there was nothing to ask about. Nothing is written on the span for `sampled-out`, `filtered`, `thinned`, `refused` and `already-scored`.',
    table(['reason', 'meaning'], rowsOf('SkipReason')),
    '## Failed',
    'The scorer was asked, and gave no valid score.',
    table(['code', 'meaning'], rowsOf('FailureCode')),
  )
}

function rowsOf(type: string): string[][] {
  return literalsOf('src/model/score.ts', type).map(({ literal, comment }) => [code(literal), oneLine(comment.summary)])
}
