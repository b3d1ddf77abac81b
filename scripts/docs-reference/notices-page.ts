import { notices } from '../../src/engine/notices/notices.ts'
import { code, page, table } from './markdown.ts'

/** `docs/reference/notices.md`: the notices about the set-up of scoring. */
export function noticesPage(): string {
  return page(
    'Notices',
    'Problems with the set-up are printed as warnings of the process, without any configuration: each once, and at most ten lines. `node --disable-warning=CODE` silences one of them, and `SPANSCORE_LOG=off` all. `SPANSCORE_LOG=info` adds a line when spanscore attaches. If the application has set a `diag` logger (with `NodeSDK`, `OTEL_LOG_LEVEL=info` does), notices go only there. No notice holds content of a run.',
    table(
      ['code', 'level', 'when', 'what to do'],
      Object.entries(notices).map(([name, { level, when, cure }]) => [code(name), level, when, cure]),
    ),
  )
}
