import type { Cell } from './cells.ts'
import type { Outcome } from './run-scenario.ts'
import type { Scenario } from './scenarios.ts'

const RUNS = 2
/** Names of the spans that `app/plain-agent.cjs` writes, sorted. */
const PLAIN_SPANS = Array.from({ length: RUNS }, () => [
  'chat gpt-5-mini',
  'chat gpt-5-mini',
  'execute_tool weather',
  'invoke_agent weather-agent',
])
  .flat()
  .toSorted()
  .join(', ')

/** Its scores are those of the tool calls, of which each run has one. */
const OF_CALLS = 'each'
const SCORERS = ['tool_call_accuracy', 'polite', 'slow', OF_CALLS]

/** What is wrong with a scenario's outcome, in one sentence each; empty if nothing is wrong. */
export function complaints(cell: Cell, scenario: Scenario, outcome: Outcome, baseline: Outcome): string[] {
  const { report, exitCode, stderr } = outcome
  if (exitCode !== 0 || report === undefined) return [`exit code ${exitCode}: ${stderr.slice(-1_500)}`]
  const wrong: string[] = []
  function expect(holds: boolean, complaint: string): void {
    if (!holds) wrong.push(complaint)
  }
  expect(
    report.answers.length === RUNS && report.answers.every((text) => text.startsWith('It is 4')),
    'the answers changed',
  )
  if (scenario.mode === 'off') return wrong
  if (scenario.mode === 'sentry' || scenario.mode === 'none') {
    expect(
      report.said.some((line) => /^(warn|error) /.test(line) && line.includes('Nothing is scored')),
      `nothing says that it could not attach: ${JSON.stringify(report.said)}`,
    )
    expect(outcome.judgeRequests === 0, 'a judge was asked though nothing is attached')
    return wrong
  }
  checkSpans(outcome, scenario.mode === 'bare' ? PLAIN_SPANS : spanNames(baseline.received), expect)
  checkScores(cell, scenario, outcome, expect)
  checkLedger(outcome, expect)
  expect(outcome.judgeRequests === RUNS, `${outcome.judgeRequests} judge requests, expected ${RUNS}`)
  const troubles = report.said.filter(
    (line) => /^(warn|error) /.test(line) && line.includes('spanscore') && !line.includes('while a span was ending'),
  )
  expect(troubles.length === 0, `diag says ${JSON.stringify(troubles)}`)
  return wrong
}

type Expect = (holds: boolean, complaint: string) => void

/** No span is lost or doubled, and only late scores are added: judge calls are not traced. */
function checkSpans({ received }: Outcome, without: string, expect: Expect): void {
  const requests = received.spans.filter((span) => span.name.startsWith('fetch ')).length
  expect(requests === 0 || requests === 2 * RUNS, `${requests} requests are traced, the agents made ${2 * RUNS}`)
  const now = spanNames(received)
  expect(now === without, `spans differ: [${now}] with, [${without}] without`)
  const ids = received.spans.map((span) => span.spanId)
  expect(new Set(ids).size === ids.length, 'a span was exported twice')
}

/** Names of the application's spans, sorted; @vercel/otel adds one for each request that the agent makes. */
function spanNames({ spans }: Outcome['received']): string {
  const names = spans
    .filter((span) => span.scope.name !== 'spanscore' && span.scope.name !== '@vercel/otel/fetch')
    .map((span) => span.name)
  return names.toSorted().join(', ')
}

function checkScores(cell: Cell, scenario: Scenario, { received }: Outcome, expect: Expect): void {
  const agents = received.spans.filter((span) => span.scope.name !== 'spanscore' && isAgent(span))
  expect(agents.length === RUNS, `${agents.length} agent spans, expected ${RUNS}`)
  const tools = new Set(received.spans.filter(isTool).map((span) => span.spanId))
  expect(tools.size === RUNS, `${tools.size} spans of tools, expected ${RUNS}`)
  for (const id of SCORERS) {
    const key = `spanscore.${id}.score`
    const onAgents = agents.filter((span) => span.attributes[key] === 1).length
    const lateSpans = received.spans.filter((span) => span.scope.name === 'spanscore' && span.attributes[key] === 1)
    const late = lateSpans.length
    // Beside another processor a span has only the scores that exist before it has ended; SDK 1.30 does not report when it ends. On a
    // busy machine the second run's code score may come after the end too, because the first one took its time.
    if (scenario.mode === 'beside' && id === 'tool_call_accuracy' && cell.sdk !== '1.30') {
      expect(onAgents > 0 && onAgents + late === RUNS, `${key} = 1 on ${onAgents} agent spans and ${late} late spans`)
      continue
    }
    const onSpan = scenario.mode !== 'beside'
    expect(onAgents === (onSpan ? RUNS : 0), `${key} = 1 on ${onAgents} agent spans, expected ${onSpan ? RUNS : 0}`)
    const isOfCalls = id === OF_CALLS
    const expected = onSpan && !isOfCalls ? 0 : RUNS
    expect(late === expected, `${key} = 1 on ${late} late spans, expected ${expected}`)
    if (isOfCalls) checkPlaces(lateSpans, tools, expect)
  }
  if (scenario.mode === 'bare' || scenario.mode === 'vercel') return
  const traces = new Set(agents.map((span) => span.traceId))
  for (const id of SCORERS) {
    const events = received.logs.filter((log) => log.attributes['gen_ai.evaluation.name'] === id)
    expect(events.length === RUNS, `${events.length} events of ${id}, expected ${RUNS}`)
    expect(
      events.every((log) => traces.has(log.traceId)),
      `an event of ${id} is in another trace`,
    )
    // The tracer keeps every trace that begins here, as its sampler states.
    expect(
      events.every((log) => log.attributes['spanscore.probability'] === 1),
      `an event of ${id} does not say with what probability it was seen`,
    )
  }
  const counts = received.metrics.filter((metric) => metric.name === 'spanscore.evaluations')
  expect(counts.length > 0, 'the metric spanscore.evaluations did not arrive')
}

/** The late spans of calls are below the spans of these calls. */
function checkPlaces(
  late: readonly { readonly parentSpanId?: string | undefined }[],
  tools: ReadonlySet<string>,
  expect: Expect,
): void {
  const parents = new Set(late.map(({ parentSpanId = '' }) => parentSpanId))
  expect(
    parents.size === RUNS && [...parents].every((id) => tools.has(id)),
    'a score of a call is not below the span of its tool',
  )
}

function isTool(span: { readonly name: string; readonly attributes: Readonly<Record<string, unknown>> }): boolean {
  return span.name === 'ai.toolCall' || span.attributes['gen_ai.operation.name'] === 'execute_tool'
}

function isAgent(span: { readonly name: string; readonly attributes: Readonly<Record<string, unknown>> }): boolean {
  // ai 6 writes `ai.generateText`; ai 7 writes an `invoke_agent` span of the GenAI conventions.
  return span.name === 'ai.generateText' || span.attributes['gen_ai.operation.name'] === 'invoke_agent'
}

function checkLedger({ report }: Outcome, expect: Expect): void {
  const { runs = {}, scorers = {} } = report?.ledger ?? {}
  expect(runs['seen'] === RUNS && runs['closed'] === RUNS, `the ledger's runs are ${JSON.stringify(runs)}`)
  for (const id of SCORERS) {
    const row = scorers[id] ?? {}
    expect(row['offered'] === RUNS && row['scored'] === RUNS, `the ledger's row of ${id} is ${JSON.stringify(row)}`)
  }
}
