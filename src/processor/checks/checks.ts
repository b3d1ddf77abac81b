import { unicodePattern } from '../../model/unicode-pattern.ts'
import { complainOfNode, refuseNode } from '../../model/node-version.ts'
import { notices } from '../../engine/notices/notices.ts'
import type { Notice, NoticeCode } from '../../engine/notices/notices.ts'
import { closestName } from '../../scoring/closest-name.ts'
import type { ScorerFacts, SeenRun, SetupFacts } from './setup-facts.ts'

/** A mistake in the set-up. A notice and a line of `spanscore doctor` say the same of it. */
export interface Problem {
  /** The subject, such as a judge. The problem is reported once for each subject. */
  readonly subject: string
  readonly text: string
  /** The cure: one sentence. */
  readonly cure: string
}

/** A check of the set-up: its notice, and how to look for problems. */
export interface Check extends Notice {
  readonly code: NoticeCode
  readonly look: (facts: SetupFacts) => readonly Problem[]
}

/** Maximum characters of a name that are shown. */
const LONGEST_NAME = 80

/** How agents get a name. */
const NO_NAME_CURE =
  'Record a name (functionId in the AI SDK, gen_ai.agent.name in spans of your own), or remove agent from the scorer.'

/** The checks, by what they look at. */
export type CheckName = 'node' | 'judges' | 'exports' | 'content' | 'agents'

/** All checks that need no more than facts. A running process and `spanscore doctor` run the same ones. */
export const checks: Readonly<Record<CheckName, Check>> = {
  node: check('SPANSCORE_NODE_VERSION', ({ nodeVersion }) => {
    const complaint = complainOfNode(nodeVersion)
    if (complaint === undefined) return []
    const text = refuseNode(nodeVersion) === undefined ? 'Runs may stay without scores.' : 'Nothing is scored.'
    return [{ subject: '', text, cure: complaint }]
  }),
  judges: check('SPANSCORE_JUDGE', ({ scorers }) =>
    scorers.flatMap(({ id, model = '', unavailable }) =>
      unavailable === undefined
        ? []
        : [{ subject: model, text: `${id} cannot ask its judge ${model}.`, cure: unavailable }],
    ),
  ),
  exports: check('SPANSCORE_NO_EXPORT', ({ exportsSpans }) =>
    exportsSpans
      ? []
      : [
          {
            subject: '',
            text: 'No span is exported: spanscore is the only span processor of the provider.',
            cure: 'Set next, or put a processor with an exporter beside it (in NodeSDK, spanProcessors replaces the export of the SDK).',
          },
        ],
  ),
  content: check('SPANSCORE_NO_CONTENT', ({ scorers, withoutContent }) =>
    withoutContent.flatMap((run) => {
      const lacking = (['input', 'output'] as const).filter((what) => run.missing.includes(what))
      const needsIt = ({ reads }: ScorerFacts): boolean =>
        run.content === 'none' ? reads.length > 0 : lacking.some((what) => reads.includes(what))
      const ids = scorers.filter((scorer) => needsIt(scorer) && isFor(scorer, run)).map(({ id }) => id)
      if (ids.length === 0) return []
      const what = run.content === 'none' ? 'messages, arguments or results' : lacking.join(' and no ')
      const { agent = 'an agent without a name', dialect } = run
      const need = ids.length === 1 ? 'needs' : 'need'
      return [
        {
          subject: dialect,
          text: `A run of ${agent} (${dialect}) holds no ${what}, which ${listed(ids)} ${need}.`,
          cure: cureOfContent(run),
        },
      ]
    }),
  ),
  agents: check('SPANSCORE_NO_SUCH_AGENT', (facts) =>
    facts.runs === 0 ? [] : facts.scorers.flatMap((scorer) => agentProblems(scorer, facts)),
  ),
}

function check(code: NoticeCode, look: Check['look']): Check {
  return { code, ...notices[code], look }
}

/** What records the content that a run lacks. */
export function cureOfContent({ cure, hasModelCalls }: SeenRun): string {
  if (cure !== undefined) return `${cure}.`
  return hasModelCalls
    ? 'docs/reference/libraries.md names the setting of each instrumentation that records it.'
    : "There is no span of a model call: instrument the model's client. @opentelemetry/instrumentation-openai supports openai 4 to 6, and " +
        'among ES modules needs --experimental-loader=@opentelemetry/instrumentation/hook.mjs. See docs/attach.md.'
}

/** Scorers whose `agent` none of the runs has, if one has a similar name, or none has a name, or it is known that nothing was scored. */
function agentProblems({ id, agents: wanted = [] }: ScorerFacts, { runs, agents, hasNoScore }: SetupFacts): Problem[] {
  if (wanted.length === 0 || wanted.some((name) => agents.has(name))) return []
  if (agents.size === 0) {
    const which = runs === 1 ? 'A run has' : `All ${runs} runs have`
    const text = `${which} an agent without a name, and scorer ${id} is for ${shown(wanted.join(', '))}.`
    return [{ subject: id, text, cure: NO_NAME_CURE }]
  }
  return wanted.flatMap((name) => {
    const meant = closestName(name, agents)
    if (meant === undefined && !hasNoScore) return []
    const seen = meant === undefined ? [...agents].join(', ') : meant
    const text = `No agent named ${shown(name)} was among ${runs} ${runs === 1 ? 'run' : 'runs'}; seen: ${shown(seen)}.`
    const cure = `Scorer ${id} scores none of them: ${meant === undefined ? 'run that agent, or ' : ''}correct its agent.`
    return [{ subject: name, text, cure }]
  })
}

function isFor({ agents }: ScorerFacts, { agent }: SeenRun): boolean {
  return agents === undefined || (agent !== undefined && agents.includes(agent))
}

const unseen = unicodePattern('[\\p{Cc}\\p{Cf}]', 'gu')

function shown(name: string): string {
  return name.replaceAll(unseen(), ' ').slice(0, LONGEST_NAME)
}

/** The first of some names, and how many more there are. */
function listed(names: readonly string[]): string {
  const first = names.slice(0, 3).join(', ')
  return names.length > 3 ? `${first} and ${names.length - 3} more` : first
}
