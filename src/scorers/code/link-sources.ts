import type { AgentRun } from '../../model/agent-run.ts'
import { contentFree, explain } from '../../model/explanation.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { toJsonText } from '../../spans/json.ts'
import { answerOf, list } from './code-scorer.ts'
import { readOptions } from '../read-options.ts'
import { scorerKeys } from '../scorer-options.ts'
import type { ScorerOptions } from '../scorer-options.ts'
import { skip } from '../skip.ts'

/**
 * Link sources, by code: the share of the URLs in the answer that occur in what the agent had: results of tools, documents, messages and
 * instructions. Passes at 1.
 *
 * URLs are compared without scheme, fragment and trailing slash; each counts once. Without a URL `skipped: not-applicable`. If one is not found,
 * and a result, a document or the input was not recorded, `skipped: no-content`.
 *
 * @example
 * ```ts
 * const scorer = createLinkSourcesScorer()
 * ```
 *
 * @throws TypeError if an option is invalid or unknown
 */
export function createLinkSourcesScorer(options: ScorerOptions = {}): Scorer {
  const { id = 'link_sources', passAt } = readOptions('createLinkSourcesScorer', options, scorerKeys)
  return defineScorer({
    id,
    description: 'Share of the links in the answer that the agent had from somewhere.',
    kind: 'code',
    passAt,
    identity: { scorer: 'link_sources' },
    needs: ['input', 'output', 'systemInstructions', 'toolNames', 'toolResults', 'documents'],
    assess: (view, _context, reads) => {
      const answer = answerOf(reads)
      if (typeof answer !== 'string') return answer
      const links = linksIn(answer)
      if (links.size === 0) return skip('not-applicable', contentFree(`${id}: the answer has no link.`))
      const known = sourcesOf(reads.run)
      const unknown = [...links].filter(([address]) => !known.has(address)).map(([, link]) => link)
      // A scorer that read what was not recorded is skipped: the link may be from there.
      if (unknown.length > 0) sourcesOf(view)
      const which = unknown.length === 0 ? explain`` : explain`; without a source: ${list(unknown)}`
      return {
        status: 'scored',
        value: (links.size - unknown.length) / links.size,
        explanation: explain`${links.size - unknown.length} of ${links.size} links have a source${which}.`,
        findings: unknown.map((link) => ({
          about: 'link',
          verdict: 'no_source',
          rating: 'bad',
          text: link,
          places: [{ in: 'answer', quote: link }],
        })),
      }
    },
  })
}

/** The addresses in everything that the agent had. */
function sourcesOf(run: AgentRun): ReadonlySet<string> {
  const texts = [
    run.systemInstructions,
    ...run.input.flatMap(({ text, parts }) => [text, parts]),
    ...run.toolCalls.map(({ result }) => result),
    ...run.retrievals.flatMap(({ documents = [] }) =>
      documents.flatMap(({ id, content, metadata }) => [id, content, metadata]),
    ),
  ]
  return new Set(
    texts.flatMap((text) => [...linksIn(typeof text === 'string' ? text : (toJsonText(text) ?? '')).keys()]),
  )
}

const LINK = /\bhttps?:\/\/[^\s<>"'`\\)\]}|]+/gi

/** The links in a text, by their address without scheme, fragment and trailing slash. */
function linksIn(text: string): ReadonlyMap<string, string> {
  const links = (text.match(LINK) ?? []).map((link) => link.replace(/[.,;:!?*_]+$/, ''))
  return new Map(links.map((link) => [addressOf(link), link]))
}

function addressOf(link: string): string {
  const [, host = '', path = ''] = /^https?:\/\/([^/?#]*)([^#]*)/i.exec(link) ?? []
  return `${host.toLowerCase()}${path.replace(/\/$/, '')}`
}
