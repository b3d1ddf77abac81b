import { contentFree, explain } from '../../model/explanation.ts'
import type { ToolCall } from '../../model/agent-run.ts'
import { hasSucceeded } from '../../model/call-status.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { count, list } from './code-scorer.ts'
import { expectTexts, readOptions } from '../read-options.ts'
import type { KeysOf } from '../read-options.ts'
import { scorerKeys } from '../scorer-options.ts'
import type { ScorerOptions } from '../scorer-options.ts'
import { skipWithoutFact } from '../../scoring/absence.ts'
import { skip, skipWithoutCalls } from '../skip.ts'

/** Options of `createHallucinatedToolScorer`. */
export interface HallucinatedToolOptions extends ScorerOptions {
  /** Names that count as offered, besides those that the run recorded. @default none */
  readonly tools?: readonly string[]
}

const KNOWN: KeysOf<HallucinatedToolOptions> = { ...scorerKeys, tools: true }

/**
 * Hallucinated tools, by code: the share of calls to a tool that was not offered to the model, or that was refused as unknown. Lower is
 * better; passes at 0.
 *
 * Tools that the provider runs itself count as offered. If the offered tools were not recorded, only refusals can be seen; a run without
 * any is then `skipped: no-content`. A run without calls is `skipped: not-applicable`.
 *
 * @example
 * ```ts
 * const scorer = createHallucinatedToolScorer()
 * ```
 *
 * @throws TypeError if an option is invalid or unknown
 */
export function createHallucinatedToolScorer(options: HallucinatedToolOptions = {}): Scorer {
  const factory = 'createHallucinatedToolScorer'
  const { id = 'hallucinated_tool', tools = [], passAt = 0 } = readOptions(factory, options, KNOWN)
  expectTexts(factory, 'tools', tools)
  return defineScorer({
    id,
    description: 'Share of tool calls to tools that do not exist.',
    kind: 'code',
    better: 'lower',
    passAt,
    identity: { scorer: 'hallucinated_tool', tools },
    inline: true,
    needs: ['toolNames', 'availableTools'],
    mayLack: ['toolCalls', 'availableTools'],
    assess: (run, _context, reads) => {
      const calls = run.toolCalls
      const none = skipWithoutCalls(reads)
      if (none !== undefined) return none
      const recorded = run.availableTools?.map(({ name }) => name)
      const offered =
        recorded === undefined && tools.length === 0 ? undefined : new Set([...tools, ...(recorded ?? [])])
      const hallucinated = calls.flatMap((call, index) => {
        const isHallucinated =
          offered === undefined ? isUnknownTool(call) : !offered.has(call.name) && !call.providerExecuted
        return isHallucinated ? [{ call, index }] : []
      })
      if (offered === undefined && hallucinated.length === 0) {
        return (
          skipWithoutFact(reads.run, 'availableTools', id) ??
          skip(
            'no-content',
            explain`${contentFree(id)}: the tools that the model was offered were not recorded. Name them in the option tools.`,
          )
        )
      }
      const names = [...new Set(hallucinated.map(({ call }) => call.name))]
      return {
        status: 'scored',
        value: hallucinated.length / calls.length,
        explanation:
          names.length === 0
            ? explain`All of ${count(calls.length, 'call')} went to tools that were offered.`
            : explain`${hallucinated.length} of ${count(calls.length, 'call')} went to tools that do not exist: ${list(names)}.`,
        findings: hallucinated.map(({ call: { name: text }, index }) => ({
          about: 'call',
          verdict: 'unknown_tool',
          rating: 'bad',
          text,
          places: [{ in: 'call', index }],
        })),
      }
    },
  })
}

/** What runtimes write for a call to an unknown tool: AI SDK, LangGraph, OpenAI Agents, MCP. */
const UNKNOWN_TOOL =
  /NoSuchTool|UnknownTool|ToolNotFound|unknown tool|no such tool|unavailable tool|not a valid tool|tool\b.{0,80}\b(?:not found|does not exist|is not available)/i

function isUnknownTool({ status, error }: ToolCall): boolean {
  return !hasSucceeded({ status }) && UNKNOWN_TOOL.test(`${error?.type ?? ''} ${error?.message?.slice(0, 500) ?? ''}`)
}
