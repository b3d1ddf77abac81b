/** The end of the demo, which shows that no run is silently left unscored, and suggests what to try next. */
import type { LedgerSnapshot } from 'spanscore'

import { paint } from './report.ts'

/** Explanations of the reasons that occur in the demo. */
const MEANINGS: Readonly<Record<string, string>> = {
  filtered: 'the scorer is for other agents or other questions',
  'not-applicable': 'there was nothing to score: no tool was called',
  'run-failed': 'the run failed before there was anything to judge',
  'no-output': 'the run gave no answer',
  thinned: 'over the budget of judges; the weights of other runs make up for it',
  refused: 'the budget for judge calls was used up',
  'sampled-out': 'the run was not in the sample',
}

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Prints the outcome of every run and every scorer, from the ledger of the process. */
export function printAccounting({ runs, scorers }: LedgerSnapshot, printedRuns: number, passed: number): void {
  const counts = Object.values(scorers)
  const sum = (key: 'offered' | 'scored' | 'skipped' | 'failed' | 'pending') =>
    counts.reduce((total, row) => total + row[key], 0)
  const nested = printedRuns - runs.seen
  const started = nested > 0 ? ` (${nested} of them started by another agent)` : ''
  console.log(`\n${paint('bold', 'Everything is accounted for')}, in the ledger of the process:`)
  console.log(
    `  ${plural(printedRuns, 'run')}${started} × ${plural(counts.length, 'scorer')} = ${sum('offered')} evaluations`,
  )
  console.log(
    `  ${sum('scored')} scored: ${paint('green', `${passed} pass`)}, ${paint('red', `${sum('scored') - passed} fail`)}`,
  )
  console.log(`  ${sum('skipped')} skipped on purpose:`)
  const reasons = new Map<string, number>()
  for (const row of counts) {
    for (const [reason, count] of Object.entries(row.reasons)) reasons.set(reason, (reasons.get(reason) ?? 0) + count)
  }
  for (const [reason, count] of [...reasons].toSorted((a, b) => b[1] - a[1])) {
    console.log(`    ${String(count).padStart(3)}  ${MEANINGS[reason] ?? 'see docs'} ${paint('dim', `(${reason})`)}`)
  }
  console.log(`  ${sum('failed')} failed, ${sum('pending')} pending`)
}

/** Prints what to try next. */
export function printNextSteps(): void {
  console.log(`\n${paint('bold', 'Try next')}
  1. A real model and judge:
       OPENAI_API_KEY=sk-… npm run demo
  2. See the scores in Jaeger and Grafana:
       (cd collector-config && docker compose up -d)
       npm run stack    # in place of Docker, in another terminal
       OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 npm run demo
  3. Read and score stored traces: first the sample, then your own:
       npx @spanscore/cli inspect cli/sample/traces.jsonl
       npx @spanscore/cli score cli/sample/traces.jsonl \\
         --config cli/sample/spanscore.config.mjs
  4. Who got worse, and why, on the page:
       npm run demo -- --page`)
}
