import { complainOfNode, refuseNode } from '../../model/node-version.ts'
import { agentProblems } from '../../engine/notices/agent-names.ts'
import type { Problem } from '../../engine/notices/agent-names.ts'
import { notices } from '../../engine/notices/notices.ts'
import type { Notice, NoticeCode } from '../../engine/notices/notices.ts'
import type { ScorerFacts, SeenRun, SetupFacts } from './setup-facts.ts'

/** A check of the set-up: its notice, and how to look for problems. */
export interface Check extends Notice {
  readonly code: NoticeCode
  readonly look: (facts: SetupFacts) => readonly Problem[]
}

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

function isFor({ agents }: ScorerFacts, { agent }: SeenRun): boolean {
  return agents === undefined || (agent !== undefined && agents.includes(agent))
}

/** The first of some names, and how many more there are. */
function listed(names: readonly string[]): string {
  const first = names.slice(0, 3).join(', ')
  return names.length > 3 ? `${first} and ${names.length - 3} more` : first
}
