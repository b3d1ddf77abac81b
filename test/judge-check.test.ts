import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { labelledCases } from '../cli/src/judge-check/labelled-case.ts'
import type { LabelledCase } from '../cli/src/judge-check/labelled-case.ts'
import { createScriptedOpenAIServer } from '../src/testing/scripted-openai-server.ts'
import type { ScriptedRequest } from '../src/testing/scripted-reply.ts'
import { runCommand } from './fixtures/run-command.ts'

/** Chooses one verdict of a question. Verdicts are listed best first. */
type Choose = (verdicts: readonly string[], request: ScriptedRequest) => string

/** A judge that answers in the form that is asked for: one item in each list, and the chosen verdict everywhere. */
function judge(choose: Choose) {
  return (request: ScriptedRequest): string => {
    const { userText } = request
    const questions = [...userText.matchAll(/^- (?:"(?<list>\w+)"|(?<ids>\w[^"[\n]*)) \[(?<verdicts>[^\]]+)\]/gm)]
    const verdictOf = (verdicts = ''): string => choose(verdicts.split(' | '), request)
    const lists = questions.flatMap(({ groups = {} }) => {
      const { list, verdicts } = groups
      return list === undefined
        ? []
        : [[list, [{ text: 'a claim', reasoning: 'because', verdict: verdictOf(verdicts) }]]]
    })
    const unjudged = [...userText.matchAll(/^- "(?<list>\w+)":/gm)].map(({ groups = {} }) => [
      groups['list'],
      // What is listed there without a verdict counts against an answer, or not at all.
      ['false', 'unasked'].includes(groups['list'] ?? '') ? [] : [{ text: 'Is it so?' }],
    ])
    const answers = questions.flatMap(({ groups = {} }) => {
      const { ids, verdicts } = groups
      if (ids === undefined) return []
      return idsIn(ids).map((id) => {
        const verdict = verdictOf(verdicts)
        const tools = ['some', 'wrong', 'helpful'].includes(verdict) ? ['t1'] : []
        return { id, reasoning: 'because', verdict, tools }
      })
    })
    return JSON.stringify({ ...Object.fromEntries([...lists, ...unjudged]), notes: {}, answers })
  }
}

/** The ids of a question: `missing`, `call_1, call_2`, or `q1 to q10, q12`. */
function idsIn(text: string): readonly string[] {
  return text.split(', ').flatMap((named) => {
    const [first = '', last = first] = named.split(' to ')
    const [from, to] = [numberOf(first), numberOf(last)]
    return first === last
      ? [first]
      : Array.from({ length: to - from + 1 }, (_, index) => first.replace(/\d+$/, `${from + index}`))
  })
}

function numberOf(id: string): number {
  return Number(/\d+$/.exec(id)?.[0])
}

/** The case that a prompt is about: of those whose texts it quotes, the one with the most. */
function caseOf({ userText }: ScriptedRequest): LabelledCase {
  const quoted = labelledCases
    .map((each) => ({ each, texts: textsOf(each) }))
    .filter(({ texts }) => texts.every((text) => userText.includes(text)))
    .toSorted((a, b) => b.texts.join().length - a.texts.join().length)
  if (quoted[0] === undefined) throw new Error(`Expected the texts of a case, got ${userText}`)
  return quoted[0].each
}

/** Texts that only prompts about this case quote together: its answer, or what was expected of it, and its evidence or criteria. */
function textsOf({ options, run, scorer }: LabelledCase): readonly string[] {
  // Judges of a conversation are shown all messages of the user.
  if (isList(run)) return run.map((each) => ('input' in each && typeof each.input === 'string' ? each.input : ''))
  if ('traceId' in run) throw new TypeError('Expected input and output')
  const { output, groundTruth } = run
  const last = typeof output === 'string' ? output : /"content":"([^"]+)"\}\]$/.exec(JSON.stringify(output))?.[1]
  const answer = ['contextual_recall', 'answer_correctness'].includes(scorer) ? groundTruth : last
  // Judges of arguments are not shown the answer.
  if (scorer === 'tool_arguments_llm') return [/([^"\\]+)"(?:\}\])?$/.exec(JSON.stringify(run.input))?.[1] ?? '']
  // Judges of a retrieval are not shown the answer, but what was found: the last document is enough.
  if (scorer === 'retrieval_relevance') return /"text":"([^"]+)"\}\]\}/.exec(JSON.stringify(output))?.slice(1) ?? []
  return [answer, ...textsIn(options)].filter((text) => typeof text === 'string')
}

/** Context and criteria in the options of a case. */
function textsIn(options: LabelledCase['options']): readonly string[] {
  const context = Object(options?.['options'])['context'] ?? []
  const criteria: readonly unknown[] = Object(options)['criteria'] ?? []
  return [...context, ...criteria.map((each) => Object(each)['question'])]
}

function isList<Item extends object>(value: Item | readonly Item[]): value is readonly Item[] {
  return Array.isArray(value)
}

async function check(choose: Choose, ...more: string[]) {
  await using server = await createScriptedOpenAIServer(judge(choose))
  return await runCommand(['judge-check', '--model', 'scripted/judge', '--url', server.url, ...more])
}

describe('spanscore judge-check', () => {
  it('finds a judge that always praises, and says so in one line', async () => {
    const { code, stdout } = await check(([best = '']) => best)
    const verdict =
      'This judge passes nearly everything. It passed 72 of 72 good runs and 86 of 86 bad ones. Do not use it.'
    expect([1, -2].map((place) => stdout.split('\n').at(place))).toEqual([verdict, verdict])
    expect(code).toBe(1)
  })

  it('finds a judge that answers at random', async () => {
    let seed = 7
    const { code, stdout } = await check((verdicts) => {
      seed = (seed * 48_271) % 2_147_483_647
      return verdicts[seed % verdicts.length] ?? ''
    })
    expect(stdout.split('\n').at(-2)).toMatch(/^This judge does not tell good runs from bad ones\. .* Do not use it\.$/)
    expect(code).toBe(1)
  })

  it('says that a judge is right, and beforehand how much it will be asked', async () => {
    const { code, stdout, stderr } = await check((verdicts, request) => {
      const verdict = caseOf(request).expect === 'pass' ? verdicts[0] : verdicts.at(-1)
      return verdict ?? ''
    })
    expect(stdout.split('\n').at(-2)).toBe(
      'This judge is right in 158 of 158 cases. It passed 72 of 72 good runs and 0 of 86 bad ones.',
    )
    expect(stderr).toContain('158 cases, about 178 calls')
    expect(code).toBe(0)
  })

  it('asks for nine of ten in each scorer with at least ten cases', async () => {
    const { code, stdout } = await check((verdicts, request) => {
      const { expect: label, scorer } = caseOf(request)
      return (label === 'pass' || scorer === 'injection' ? verdicts[0] : verdicts.at(-1)) ?? ''
    })
    expect(stdout.replaceAll('\n', ' ')).toContain('right in 152 of 158 cases, and weak in injection (6 of 12).')
    expect(code).toBe(1)
  })

  it('shows each case that the judge got wrong, with the right label and the reason of both', async () => {
    const { stdout } = await check(([best = '']) => best, '--scorer', 'rubric')
    expect(stdout).toMatch(/^ {2}rubric +47 % ███▊ +9 of 19 /m)
    expect(stdout).toContain('  rubric-grob (rubric, de)\n    Right is fail: The answer insults the user')
  })

  it('fits into a terminal of 80 columns, and breaks no word', async () => {
    await using server = await createScriptedOpenAIServer(judge(([best = '']) => best))
    const argv = ['judge-check', '--model', 'scripted/judge', '--url', server.url]
    const [narrow, wide] = await Promise.all([80, 400].map(async (columns) => runCommand(argv, { columns })))
    expect(narrow!.stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect(narrow!.stdout.split(/\s+/)).toEqual(wide!.stdout.split(/\s+/))
  })

  it('checks each judge of a configuration, with its settings', async () => {
    await using server = await createScriptedOpenAIServer(judge(([best = '']) => best))
    const directory = mkdtempSync(join(tmpdir(), 'spanscore-judge-check-'))
    const path = join(directory, 'spanscore.config.ts')
    const model = `{ id: 'local/small', url: '${server.url}' }`
    const scorer = `prebuilt.createCompletenessScorer({ model: ${model}, judge: { price: { input: 1, output: 2 } } })`
    const entry = resolve(import.meta.dirname, '../src/entries/scorers.ts')
    writeFileSync(path, `import * as prebuilt from '${entry}'\nexport default { scorers: [${scorer}] }\n`)
    const { stdout } = await runCommand(['judge-check', '--config', path, '--scorer', 'rubric'])
    const own = await runCommand(['judge-check', '--config', path, '--max-usd', '1e-9'])
    expect(own.stderr).toMatch(/^spanscore: local\/small: 7 cases,/)
    const other = join(directory, 'other.config.ts')
    const renamed = scorer.replace('{', "{ id: 'whole', ")
    writeFileSync(other, `import * as prebuilt from '${entry}'\nexport default { scorers: [${scorer}, ${renamed}] }\n`)
    const all = await runCommand(['judge-check', '--config', other, '--max-usd', '1e-9'])
    rmSync(directory, { recursive: true })
    expect(all.stderr).toMatch(/^spanscore: local\/small: 1\d\d cases,/)
    expect(stdout).toMatch(/^ {2}rubric +47 % ███▊ +9 of 19 .* \d+\.\d\d$/m)
  })

  it('says why nothing was scored if the judge does not answer in the form that is asked for', async () => {
    await using server = await createScriptedOpenAIServer(() => 'I would rather not.')
    const argv = ['judge-check', '--model', 'scripted/judge', '--url', server.url, '--scorer', 'rubric', '--json']
    const { code, stdout } = await runCommand(argv)
    expect(JSON.parse(stdout)).toMatchObject([
      {
        model: 'scripted/judge',
        verdict: { kind: 'silent' },
        scorers: [{ scorer: 'rubric', right: 0, noScore: 19 }],
        cases: Array.from({ length: 19 }, () => ({ outcome: 'no-score', score: { code: 'judge-invalid-reply' } })),
      },
    ])
    expect(code).toBe(1)
  })

  it.each([
    { argv: [], message: 'expected --model, such as openai/gpt-5-mini, or a configuration' },
    { argv: ['--config', 'none.config.ts'], message: '--config: expected the path of a configuration file' },
    { argv: ['--model', 'a/b', '--config', 'x.ts'], message: 'expected either --model or --config, got both' },
    { argv: ['--model', 'gpt'], message: "expected model to be '<provider>/<model>'" },
    { argv: ['--model', 'openai/gpt-5-mini'], message: 'has no API key' },
    { argv: ['--model', 'a/b', '--scorer', 'rubrik'], message: '--scorer: expected a prebuilt judge scorer' },
    { argv: ['--model', 'a/b', '--max-usd', '-1'], message: '--max-usd: expected US dollars above 0, got -1' },
  ])('refuses $argv', async ({ argv, message }) => {
    const { code, stderr } = await runCommand(['judge-check', ...argv])
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })
})

describe('the labelled cases', () => {
  it('are at least seven for each prebuilt judge scorer, in five languages, one of them hostile', () => {
    const byScorer = Map.groupBy(labelledCases, ({ scorer }) => scorer)
    expect(byScorer.size).toBe(16)
    for (const cases of byScorer.values()) {
      expect(cases.length).toBeGreaterThanOrEqual(7)
      expect(new Set(cases.map(({ language }) => language)).size).toBe(5)
      expect(cases.filter(({ hostile }) => hostile)).toHaveLength(1)
      expect(new Set(cases.map(({ expect: label }) => label)).size).toBe(2)
    }
  })
})
