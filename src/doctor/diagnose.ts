import { closestName } from '../scoring/closest-name.ts'
import { complainOfNode } from '../processor/node-process.ts'
import type { Finding, ProcessFacts, SeenRun, ScoringFacts } from './facts.ts'

/** The report about a process: one line for each fact, with the cure for what is wrong. */
export function diagnose(facts: ProcessFacts): readonly Finding[] {
  return [
    nodeFinding(facts.nodeVersion),
    sdkFinding(facts),
    ...providerFindings(facts),
    ...signalFindings(facts),
    ...scoringFindings(facts),
    ...runFindings(facts),
    ...facts.asked.map(({ scorer, model, isAnswered, message }) =>
      isAnswered
        ? good(`Judge ${model} (${scorer}) was asked once, and answered.`)
        : bad(`Judge ${model} (${scorer}) was asked once, and gave no answer.`, message),
    ),
    // The lines above already cover notices about judges and providers.
    ...facts.notices
      .filter(({ code }) => !['SPANSCORE_JUDGE', 'SPANSCORE_NO_CONTENT', 'SPANSCORE_NO_PROVIDER'].includes(code))
      .map(({ code, message }) => bad(`Notice ${code}: ${message}`, 'See docs/reference/notices.md.')),
  ]
}

/** Whether the version of Node.js will do. */
export function nodeFinding(version: string): Finding {
  const complaint = complainOfNode(version)
  return complaint === undefined ? good(`Node.js ${version}.`) : bad(`Node.js ${version}.`, complaint)
}

function sdkFinding({ packages, apiVersion }: ProcessFacts): Finding {
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

function providerFindings({ tracerProvider, packages }: ProcessFacts): readonly Finding[] {
  if (tracerProvider === undefined) {
    const hasSdk = Object.keys(packages).some((name) => name.startsWith('@opentelemetry/sdk-'))
    return [
      bad(
        'Tracer provider: none is registered.',
        hasSdk
          ? 'The SDK is loaded: start it with sdk.start(), or call provider.register().'
          : 'Start an OpenTelemetry SDK before the application: node --import ./telemetry.mjs app.js.',
      ),
    ]
  }
  const { name, processors } = tracerProvider
  if (processors === undefined) {
    return [
      bad(
        `Tracer provider: ${name} does not show its processors.`,
        'Put a ScoringSpanProcessor into its spanProcessors where you build it.',
      ),
    ]
  }
  const list = processors.map((each) => (each.exporter === undefined ? each.name : `${each.name} → ${each.exporter}`))
  if (list.length === 0) {
    return [
      bad(
        `Tracer provider: ${name} has no span processors.`,
        'Spans and scores go nowhere: give it a processor with an exporter.',
      ),
    ]
  }
  return [good(`Tracer provider: ${name} with ${list.join(', ')}.`)]
}

function signalFindings({ meterProvider, loggerProvider, tracerProvider }: ProcessFacts): readonly Finding[] {
  if (tracerProvider === undefined) return []
  return [
    meterProvider === undefined
      ? bad(
          'Meter provider: none is registered.',
          'Without one there are no metrics. Set one up, or set emit.metrics to false.',
        )
      : good(`Meter provider: ${meterProvider}.`),
    loggerProvider === undefined
      ? bad(
          'Logger provider: none is registered.',
          'Without one there are no events. Set one up, or set emit.events to false.',
        )
      : good(`Logger provider: ${loggerProvider}.`),
  ]
}

function scoringFindings({ scoring, packages }: ProcessFacts): readonly Finding[] {
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
export function configFindings(facts: Pick<ScoringFacts, 'scorers' | 'budget'>): readonly Finding[] {
  const judges = facts.scorers.filter(({ kind }) => kind === 'judge')
  const scorers = facts.scorers.map(({ id, agents, sample }) => {
    const about = [
      ...(agents === undefined ? [] : [`agents ${agents.join(', ')}`]),
      ...(sample === '100 %' ? [] : [sample]),
    ]
    return about.length === 0 ? id : `${id} (${about.join('; ')})`
  })
  return [
    good(`Scorers: ${scorers.join(', ')}.`),
    ...judges.map(({ id, model, unavailable }) =>
      unavailable === undefined
        ? good(`Judge ${model} (${id}): its package and key are there.`)
        : bad(`Judge ${model} (${id}) cannot be asked.`, unavailable),
    ),
    ...(judges.length === 0 ? [] : [good(`Budget of judges: ${facts.budget}.`)]),
  ]
}

function runFindings({ runs, spans, scoring, when }: ProcessFacts): readonly Finding[] {
  if (runs.length === 0) {
    const waited = when === 'late' ? 'in the time that was waited' : 'before the process ended'
    return [
      spans === 0
        ? bad(`Runs: no span was recorded ${waited}.`, 'Run an agent. If one ran, its instrumentation is not loaded.')
        : bad(
            `Runs: ${spans} spans and no agent run ${waited}.`,
            'Add an instrumentation of agents or model calls: see docs/instrumentations.md.',
          ),
    ]
  }
  const first = new Map(runs.toReversed().map((run) => [run.dialect, run] as const))
  const attached = scoring.length > 0
  const scored = scoring.reduce((sum, each) => sum + each.scored, 0)
  return [
    ...[...first.values()].map(instrumentationFinding),
    ...scoring.flatMap((each) => agentFindings(each, runs)),
    ...(attached && scored > 0 ? [good(`Scores: ${scored} so far.`)] : []),
    ...(attached && scored === 0 && when !== 'run'
      ? [
          bad(
            'Scores: none so far.',
            'The reasons are in scoring.ledger(), in spanscore.*.status_message of the spans, and in onScore.',
          ),
        ]
      : []),
  ]
}

/** Scorers whose `agent` none of the runs has, although one has a similar name. */
function agentFindings({ scorers }: ScoringFacts, runs: readonly SeenRun[]): readonly Finding[] {
  const seen = runs.flatMap(({ agent }) => agent ?? [])
  return scorers.flatMap(({ id, agents = [] }) => {
    if (agents.some((name) => seen.includes(name))) return []
    return agents.flatMap((name) => {
      const meant = closestName(name, seen)
      return meant === undefined
        ? []
        : bad(`Scorer ${id} is for the agent ${name}, and no run has that name.`, `Did you mean ${meant}?`)
    })
  })
}

function instrumentationFinding({ agent, dialect, scope, content, missing, setting }: SeenRun): Finding {
  const without = content === 'partial' ? ` (without ${missing.join(', ')})` : ''
  const text = `Instrumentation: ${dialect} (${scope}), agent ${agent ?? 'without a name'}, content ${content}${without}.`
  if (content === 'full') return good(text)
  const cure =
    setting !== undefined
      ? `Record it with ${setting}.`
      : missing.includes('toolCalls')
        ? "There is no span of a model call: instrument the model's client. See docs/instrumentations.md."
        : 'See docs/instrumentations.md for what records it.'
  return bad(text, cure)
}

function good(text: string): Finding {
  return { isGood: true, text }
}

function bad(text: string, cure: string): Finding {
  return { isGood: false, text, cure }
}
