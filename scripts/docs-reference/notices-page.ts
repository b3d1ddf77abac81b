import { notices } from '../../src/processor/notices/notices.ts'
import { code, page, table } from './markdown.ts'

/** `docs/reference/notices.md`: what is said about the set-up of scoring. */
export function noticesPage(): string {
  return page(
    'Notices',
    'What is wrong with the set-up is said without any configuration, as a warning of the process: each once, and ten lines at most. `node --disable-warning=CODE` silences one of them, and `SPANSCORE_LOG=off` all; `SPANSCORE_LOG=info` adds the line that says what scoring was attached to. Where the application has set a `diag` logger (`OTEL_LOG_LEVEL=info` does, with `NodeSDK`), everything goes there, and only there. No notice holds content of a run.',
    table(
      ['code', 'level', 'when', 'what to do'],
      Object.entries(notices).map(([name, { level, when, cure }]) => [code(name), level, when, cure]),
    ),
  )
}
