import { checks, cureOfContent } from '../../../src/processor/checks/checks.ts'
import type { SeenRun } from '../../../src/processor/checks/setup-facts.ts'
import { cureOfLibrary } from '../../../src/processor/notices/model-libraries.ts'
import { plural } from '../../../server/page/src/format.ts'
import type { EndFacts, DoctorLine, ProcessFacts, ScoringFacts } from './facts.ts'
import { describeRecognised } from '../read-files.ts'

import { bad, foundBy, good } from './finding.ts'
import { providerFindings, signalFindings } from './provider-findings.ts'

/** Notices that other lines of the report cover. */
const COVERED_NOTICES: ReadonlySet<string> = new Set([
  ...Object.values(checks).map(({ code }) => code),
  'SPANSCORE_NO_PROVIDER',
  'SPANSCORE_NO_RUNS',
])
/** Notices that say why there is no run. */
const EXPLAINS_NO_RUNS: ReadonlySet<string> = new Set(['SPANSCORE_NO_RUNS', 'SPANSCORE_SHUT_DOWN'])

/**
 * The report about a process: one line for each fact, with the cure for what is wrong.
 *
 * @param end how the process ended; `undefined` while it runs
 */
export function diagnose(facts: ProcessFacts, end?: EndFacts): readonly DoctorLine[] {
  const crash = crashFinding(facts, end)
  if (crash !== undefined && facts.apiVersion === undefined) return [nodeFinding(facts.nodeVersion), crash]
  return [
    nodeFinding(facts.nodeVersion),
    ...(crash === undefined ? [] : [crash]),
    sdkFinding(facts),
    ...providerFindings(facts),
    ...signalFindings(facts),
    ...(crash !== undefined && facts.scoring.length === 0 ? [] : scoringFindings(facts)),
    ...(crash === undefined ? runFindings(facts) : []),
    ...facts.asked.map(({ scorer, model, isAnswered, message }) =>
      isAnswered
        ? good(`Judge ${model} (${scorer}) was asked once, and answered.`)
        : bad(`Judge ${model} (${scorer}) was asked once, and gave no answer.`, message),
    ),
    ...unaskedFindings(facts),
    ...facts.notices
      .filter(({ code }) => !COVERED_NOTICES.has(code) && !(facts.runs.length === 0 && EXPLAINS_NO_RUNS.has(code)))
      .map(({ code, message }) => bad(`Notice ${code}: ${message}`, 'See docs/reference/notices.md.')),
  ]
}

/** Judges that `--ask` could not ask, because the application called `process.exit()` before. */
function unaskedFindings({ asks, asked, scoring }: ProcessFacts): readonly DoctorLine[] {
  const judges = scoring
    .flatMap(({ scorers }) => scorers)
    .filter(({ kind, unavailable }) => kind === 'judge' && unavailable === undefined)
  if (!asks || asked.length > 0 || judges.length === 0) return []
  return [
    bad(
      'Judges: none was asked, because the application ended first.',
      'Use spanscore doctor --ask without a command, or remove process.exit() from the application.',
    ),
  ]
}

/** An application that crashes before its first run. It may not have come to attaching, and what it shows about runs means nothing. */
function crashFinding({ runs }: ProcessFacts, end: EndFacts | undefined): DoctorLine | undefined {
  if (end === undefined || runs.length > 0 || end.exitCode === 0) return undefined
  const how = end.exitCode === null ? `signal ${end.signal}` : `exit code ${end.exitCode}`
  return bad(`Application: it ended with ${how} before its first agent run.`, 'Its own error is printed above.')
}

/** Whether the version of Node.js is new enough. */
export function nodeFinding(version: string): DoctorLine {
  return foundBy(checks.node, { nodeVersion: version })[0] ?? good(`Node.js ${version}.`)
}

function sdkFinding({ packages, apiVersion }: ProcessFacts): DoctorLine {
  const sdks = Object.entries(packages).filter(([name]) => /^@opentelemetry\/sdk-(?:trace|node)/.test(name))
  const api = apiVersion ?? packages['@opentelemetry/api']
  if (api === undefined) {
    return bad(
      'OpenTelemetry: @opentelemetry/api was not loaded.',
      'Install and start an OpenTelemetry SDK, such as @opentelemetry/sdk-node.',
    )
  }
  const versions = sdks.map(([name, version]) => `${name} ${version}`).join(', ')
  return good(`OpenTelemetry: @opentelemetry/api ${api}${versions === '' ? '' : `, ${versions}`}.`)
}

function scoringFindings({ scoring, packages }: ProcessFacts): readonly DoctorLine[] {
  if (scoring.length === 0) {
    const isLoaded = packages['spanscore'] !== undefined
    return [
      bad(
        isLoaded ? 'Scoring: spanscore is loaded, and nothing is attached.' : 'Scoring: spanscore was not loaded.',
        isLoaded
          ? 'Call attachScoring after the SDK has started, or see the notices above.'
          : 'Call attachScoring after the SDK has started, or start with node --import spanscore/register and a spanscore.config.mjs.',
      ),
    ]
  }
  return scoring.flatMap(configFindings)
}

/** The lines about configured scorers, of a process or of a file. */
export function configFindings(facts: Pick<ScoringFacts, 'scorers' | 'budget'>): readonly DoctorLine[] {
  const judges = facts.scorers.filter(({ kind }) => kind === 'judge')
  const ofConversations = facts.scorers.filter(({ level }) => level === 'conversation').map(({ id }) => id)
  const scorers = facts.scorers.map(({ id, level, agents, sample }) => {
    const about = [
      ...(level === 'run' ? [] : [`level ${level}`]),
      ...(agents === undefined ? [] : [`agents ${agents.join(', ')}`]),
      ...(sample === '100 %' ? [] : [sample]),
    ]
    return about.length === 0 ? id : `${id} (${about.join('; ')})`
  })
  return [
    good(`Scorers: ${scorers.join(', ')}.`),
    ...(ofConversations.length === 0
      ? []
      : [
          good(
            `Conversations: ${ofConversations.join(', ')} work in the service and in spanscore score; attachScoring and spanscore/register refuse them.`,
          ),
        ]),
    ...judges.flatMap((judge) =>
      judge.unavailable === undefined
        ? [good(`Judge ${judge.model} (${judge.id}): its package and key were found.`)]
        : foundBy(checks.judges, { scorers: [judge] }),
    ),
    ...(judges.length === 0 ? [] : [good(`Budget of judges: ${facts.budget}.`)]),
  ]
}

function runFindings(facts: ProcessFacts): readonly DoctorLine[] {
  const { runs, spans, recognised, scoring, when } = facts
  if (runs.length === 0) {
    // The notice knows which library called a model; the packages show which ones may.
    const notice = facts.notices.find(({ code }) => EXPLAINS_NO_RUNS.has(code))?.message
    const cure =
      notice ?? (recognised.recognisedSpans > 0 ? `${describeRecognised(recognised)}.` : hintFor(facts.packages))
    const waited = when === 'late' ? 'within the waiting time' : 'before the process ended'
    return [
      spans === 0
        ? bad(
            `Runs: no span was recorded ${waited}.`,
            cure ?? 'Run an agent. If one ran, its instrumentation is not loaded.',
          )
        : bad(
            `Runs: ${plural(spans, 'span')} and no agent run ${waited}.`,
            cure ?? 'Add an instrumentation of agents or model calls: see docs/reference/libraries.md.',
          ),
    ]
  }
  const agents = new Set(runs.flatMap(({ agent }) => agent ?? []))
  const first = new Map(runs.toReversed().map((run) => [run.dialect, run] as const))
  const attached = scoring.filter(({ runsSeen }) => runsSeen > 0)
  const scored = attached.reduce((sum, each) => sum + each.scored, 0)
  const failed = attached.reduce((sum, each) => sum + each.failed, 0)
  const reasons = attached.flatMap(({ notScored }) => Object.values(notScored))
  const thinned = reasons.reduce((sum, { thinned: count = 0 }) => sum + count, 0)
  return [
    ...[...first.values()].map(instrumentationFinding),
    ...(facts.hasSearchOutside &&
    scoring.some(({ scorers }) => scorers.some(({ reads }) => reads.includes('documents')))
      ? [
          bad(
            "Retrieval: a search outside of the agent's span belongs to no run, so no score takes its documents into account.",
            "Search below the agent's span. In LangChain and LangGraph, call a retriever in a node or tool: a span of your own is not below the graph's. See docs/retrieval.md.",
          ),
        ]
      : []),
    ...scoring.flatMap(({ scorers, scored: own }) =>
      foundBy(checks.agents, { scorers, runs: runs.length, agents, hasNoScore: own === 0 }),
    ),
    ...(scoring.length > 0 && attached.length === 0 ? [unseenFinding(facts)] : []),
    ...(scored > 0 && failed === 0 && thinned === 0 ? [good(`Scores: ${scored} so far.`)] : []),
    ...(scored > 0 && failed === 0 && thinned > 0
      ? [
          bad(
            `Scores: ${scored} so far, and ${thinned} were left out to keep the budget.`,
            'Raise budget, or lower sample.',
          ),
        ]
      : []),
    ...(scored > 0 && failed > 0
      ? [bad(`Scores: ${scored} so far, and ${failed} failed.`, reasonsOf(attached, facts.asks))]
      : []),
    ...(attached.length > 0 && scored === 0 && when !== 'run'
      ? [bad('Scores: none so far.', reasonsOf(attached, facts.asks))]
      : []),
  ]
}

/** Why scoring saw none of the runs. */
function unseenFinding({ tracerProvider }: ProcessFacts): DoctorLine {
  return tracerProvider?.processors?.some(({ name }) => name === 'ScoringSpanProcessor') === true
    ? bad('Scoring: it was attached after the run had begun.', 'Call attachScoring right after sdk.start().')
    : bad(
        'Scoring: it is not attached to this tracer provider, and saw no run.',
        'Call attachScoring after sdk.start(), or put the ScoringSpanProcessor into the spanProcessors of the provider.',
      )
}

/**
 * What to do if a library of agents or models was loaded and no run was seen.
 *
 * @param packages names of loaded packages, with their versions
 * @returns `undefined` if none of the libraries that we know was loaded
 */
function hintFor(packages: Readonly<Record<string, string>>): string | undefined {
  const cure = cureOfLibrary(Object.keys(packages))
  return cure === undefined ? undefined : `Run an agent. If one ran: ${cure}`
}

/** Why there are no scores, by the counts of the ledger. */
function reasonsOf(scoring: readonly ScoringFacts[], asks: boolean): string {
  const counts = scoring.flatMap(({ notScored }) =>
    Object.entries(notScored).map(([id, reasons]) => {
      const list = Object.entries(reasons).map(([reason, count]) => (count === 1 ? reason : `${reason} (${count})`))
      return `${id}: ${list.join(', ')}.`
    }),
  )
  const reasons = scoring.flatMap(({ notScored }) => Object.values(notScored).flatMap(Object.keys))
  const asksMore = !asks && reasons.some((reason) => reason.startsWith('judge-'))
  return counts.length === 0
    ? 'Judges may still be at work: end the application with await scoring.forceFlush().'
    : `${counts.join(' ')} docs/reference/reasons.md explains each; onScore and the span give the message.${asksMore ? ' spanscore doctor --ask shows what a judge says.' : ''}`
}

function instrumentationFinding(run: SeenRun): DoctorLine {
  const { agent, hasConversationId, dialect, scope, content, missing } = run
  const without = content === 'partial' ? ` (without ${missing.join(', ')})` : ''
  const id = hasConversationId ? 'with' : 'without'
  const text = `Instrumentation: ${dialect} (${scope}), agent ${agent ?? 'without a name'}, ${id} a conversation id, content ${content}${without}.`
  return content === 'full' ? good(text) : bad(text, cureOfContent(run))
}
