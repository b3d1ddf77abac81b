import { failureCodes, skipReasons } from '../../src/model/score-reasons.ts'
import { code, page, table } from './markdown.ts'

/** `docs/reference/reasons.md`: why there is no score. */
export function reasonsPage(): string {
  return page(
    'Reasons and codes',
    'Where there is no score, `spanscore.<id>.status` is `skipped` or `failed`, and `.status_reason` is one of these. They are counted in `spanscore.evaluations` and in the ledger.',
    '## Skipped',
    'The scorer was never asked, or there was nothing to ask about. Nothing is written on the span for `sampled-out`, `filtered`, `thinned`, `refused` and `already-scored`.',
    table(['reason', 'meaning'], rowsOf(skipReasons)),
    '## Failed',
    'The scorer was asked, and gave no valid score.',
    table(['code', 'meaning'], rowsOf(failureCodes)),
  )
}

function rowsOf(meanings: Readonly<Record<string, string>>): string[][] {
  return Object.entries(meanings).map(([name, meaning]) => [code(name), meaning])
}
