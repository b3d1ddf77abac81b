import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'

import { beforeAll, describe, expect, it, vi } from 'vitest'
import * as zod from 'zod'

import * as adapters from '../src/entries/adapters.ts'
import * as main from '../src/entries/main.ts'
import * as testing from '../src/entries/testing.ts'
import type { AgentRun, ToolCall } from '../src/model/agent-run.ts'
import { buildRuns } from '../src/runs/build-runs.ts'
import { evaluate } from '../src/scoring/evaluate.ts'
import type { Scorer } from '../src/scoring/scorer.ts'
import { libraryNames, loadLibrary, readScenario } from './corpus/load.ts'

/** Every scorer that a block makes. */
const made = vi.hoisted((): { scorers: Scorer[] } => ({ scorers: [] }))

vi.mock('../src/scoring/define-scorer.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../src/scoring/define-scorer.ts')>()
  return {
    ...original,
    defineScorer: (...given: Parameters<typeof original.defineScorer>) => {
      const scorer = original.defineScorer(...given)
      made.scorers.push(scorer)
      return { ...scorer, run: async () => ({ score: 1, evaluation: { score: { label: 'pass' } } }) }
    },
  }
})

/** Stands for whatever a block does beside making scorers: it can be called, constructed and read, and is nothing. */
const anything: unknown = new Proxy(function nothing() {}, {
  get: (_target, name) => (name === 'then' || typeof name === 'symbol' ? undefined : anything),
  apply: () => anything,
  construct: () => anything as object,
})

/** A scorer of Mastra, which must not be called without what it reads. */
const mastraScorer = (options: object) => {
  const scorer: object = {
    ...options,
    preprocess: () => scorer,
    analyze: () => scorer,
    generateScore: () => scorer,
    run: async () => ({ score: 0 }),
  }
  return scorer
}

const pending: unknown[] = []
const runsTest = Object.assign((_name: string, run: () => unknown) => void pending.push(run()), {
  each: (cases: readonly unknown[]) => (_name: string, run: (given: unknown) => unknown) =>
    void pending.push(...cases.map(run)),
})
const own: Readonly<Record<string, unknown>> = { ...main, ...testing, ...adapters }

/** What a block imports: scorers and schemas are real, and nothing else is. */
function imported(from: string, name: string): unknown {
  if (from === 'zod') return Reflect.get(zod, name)
  if (from === '@mastra/core/evals') return mastraScorer
  if (from === 'vitest') return name === 'it' || name === 'test' ? runsTest : anything
  const isReal = /Scorer|^from[A-Z]|^explain|^contentFree|Judge$/.test(name)
  return from.startsWith('spanscore') && isReal ? own[name] : anything
}

const BLOCK = /^```(?:ts|js|mjs)[^\n]*\n([\s\S]*?)^```/gm
/** Scorers of conversations are never asked about a run. */
const OF_CONVERSATIONS = /level: 'conversation'/
const MAKES_SCORERS = /\b(?:create\w*Scorer\w*|from(?:Mastra|Autoevals|OpenEvals))\(/

const blocks = [
  ...[
    'README.md',
    ...globSync(['docs/*.md', 'docs/frameworks/*.md', 'docs/reference/scorers.md', 'skills/*/*.md']),
  ].flatMap((page) => {
    const text = readFileSync(page, 'utf8')
    return [...text.matchAll(BLOCK)].map(({ index, 1: code = '' }) => ({
      place: `${page}:${text.slice(0, index).split('\n').length}`,
      code,
    }))
  }),
  ...globSync(['examples/*/{,lib/}*.{mjs,js}', 'cli/sample/*.mjs']).map((file) => ({
    place: file,
    code: readFileSync(file, 'utf8'),
  })),
].filter(({ code }) => MAKES_SCORERS.test(code) && !OF_CONVERSATIONS.test(code))

/** Makes the scorers of a block. */
async function scorersOf(code: string): Promise<readonly Scorer[]> {
  made.scorers = []
  const script = stripTypeScriptTypes(code)
    .replaceAll(/^import (?:(\w+)|\* as (\w+)|\{([^}]*)\}) from '([^']+)';?$/gm, (_all, name, all, names, from) =>
      name || all
        ? `const ${name ?? all} = imported('${from}', 'default')`
        : String(names)
            .split(',')
            .filter((each) => each.trim() !== '')
            .map((each) => each.trim().split(' as '))
            .map(([of, as = of]) => `const ${as} = imported('${from}', '${of}')`)
            .join('\n'),
    )
    .replaceAll(/^import '[^']+'$/gm, '')
    .replaceAll(/^export default /gm, 'void ')
    .replaceAll(/^export /gm, '')
  const calls = [...script.matchAll(/^(?:function|const) (register|getScoring)\b/gm)].map(([, name]) => `${name}()`)
  // oxlint-disable-next-line typescript/no-implied-eval, no-new-func -- the blocks are our own
  const run = new Function(
    'imported',
    'process',
    'console',
    `return (async () => {${script}\n${calls.join('\n')}})()`,
  ) as (...given: unknown[]) => Promise<void>
  await run(imported, { env: { NEXT_RUNTIME: 'nodejs' }, once: () => {}, on: () => {} }, { log: () => {} })
  await Promise.all(pending.splice(0))
  return made.scorers
}

const WAITS_AFTER_CALLS = 'the run waits, and called tools before'
const KINDS = ['content capture is off', 'the provider is down', 'the run waits', WAITS_AFTER_CALLS] as const
type Kind = (typeof KINDS)[number]

/** What a recorded run lacks; `undefined` if it has an answer or calls. */
function kindOf(run: AgentRun): Kind | undefined {
  if (run.output !== undefined) return undefined
  if (run.status === 'error' && run.toolCalls.length === 0) return 'the provider is down'
  if (run.status === 'waiting') return run.toolCalls.every(hasNotRun) ? 'the run waits' : WAITS_AFTER_CALLS
  const lacks = (fact: string) => run.missing.some(({ what }) => what === fact)
  return run.content === 'none' && lacks('toolCalls') ? 'content capture is off' : undefined
}

function hasNotRun({ status }: ToolCall): boolean {
  return status === 'waiting'
}

/** What is known without messages, so that these scorers may go on. */
const KNOWN_WITHOUT_CONTENT: ReadonlySet<string> = new Set(['run_limits'])

/** Scorers that go on although a run waits, as docs/scorers.md says: they count the calls that ran before, or look at what was asked for. */
const GO_ON: Readonly<Record<Kind, ReadonlySet<string>>> = {
  'content capture is off': new Set([...KNOWN_WITHOUT_CONTENT, 'tool_policy']),
  'the provider is down': KNOWN_WITHOUT_CONTENT,
  'the run waits': new Set(['run_limits', 'hallucinated_tool']),
  [WAITS_AFTER_CALLS]: new Set([
    'run_limits',
    'loop',
    'tool_errors',
    'hallucinated_tool',
    'tool_arguments',
    'tool_policy',
  ]),
}

describe('A scorer of the documentation or the examples writes no number', () => {
  const runs = new Map<Kind, AgentRun[]>()

  beforeAll(() => {
    for (const library of libraryNames()) {
      const seen = new Set<Kind>()
      for (const scenario of loadLibrary(library)) {
        for (const run of buildRuns(readScenario(scenario).spans, { logs: readScenario(scenario).logs })) {
          const kind = kindOf(run)
          if (kind === undefined || seen.has(kind)) continue
          seen.add(kind)
          const found = runs.get(kind) ?? []
          runs.set(kind, [...found, run])
        }
      }
    }
  }, 120_000)

  it('for runs of many libraries', () => {
    expect(KINDS.filter((kind) => (runs.get(kind)?.length ?? 0) < 4)).toEqual([])
  })

  it.each(blocks)('$place', async ({ code }) => {
    const scorers = await scorersOf(code)
    expect(scorers.length).toBeGreaterThan(0)
    const wrong: string[] = []
    for (const scorer of scorers) {
      for (const [kind, all] of runs) {
        if (GO_ON[kind].has(scorer.id)) continue
        for (const run of all) {
          const { score } = await evaluate(scorer, run)
          if (score.status !== 'skipped')
            wrong.push(
              `${scorer.id}: ${score.status} where ${kind} (${run.dialect}): ${JSON.stringify(score).slice(0, 200)}`,
            )
        }
      }
    }
    expect(wrong).toEqual([])
  })
})
