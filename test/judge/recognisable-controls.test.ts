import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'

import { toSentences } from '../../src/judge/prompt/segments.ts'
import type { JudgeSettings } from '../../src/judge/settings.ts'
import type { AgentRun } from '../../src/model/agent-run.ts'
import { createPromptAlignmentScorerLLM } from '../../src/scorers/judge/alignment/prompt-alignment.ts'
import { createAnswerRelevancyScorer } from '../../src/scorers/judge/items/answer-relevancy.ts'
import { createCompletenessScorer } from '../../src/scorers/judge/items/completeness.ts'
import { createFaithfulnessScorer } from '../../src/scorers/judge/items/faithfulness.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { createToolCallAccuracyScorerLLM } from '../../src/scorers/judge/tool-calls/tool-call-accuracy.ts'
import type { Scorer } from '../../src/scoring/scorer.ts'
import { readJudgePrompt } from '../../src/testing/judge-prompt.ts'
import type { JudgePrompt } from '../../src/testing/judge-prompt.ts'
import { createScriptedJudge } from '../../src/testing/scripted-judge.ts'
import type { TextModel } from '../../src/testing/text-model.ts'
import { advantage } from './boosted-stumps.ts'
import type { Row } from './boosted-stumps.ts'
import { exchangeRuns } from './exchanges.ts'
import { lowerCaseWords as words, recordedRuns } from './recorded-runs.ts'
import type { SeenText as Seen } from './recorded-runs.ts'
import { seedRandomness } from './seeded-randomness.ts'

// The key of the judge's hashes is the same in every measurement.
await vi.hoisted(async () => {
  const { TEST_KEY_VARIABLE } = await import('../../src/judge/randomness.ts')
  process.env[TEST_KEY_VARIABLE] = 'measured'
})

/** A run to judge, what its scorer is given beside it, and what it has in common with runs that a classifier may not learn from. */
interface Sample {
  readonly run: AgentRun
  readonly context: readonly string[]
  readonly tools: readonly { readonly name: string; readonly description: string }[]
}

const described = (names: Iterable<string>): Sample['tools'] =>
  [...new Set(names)].map((name) => ({
    name,
    description: `The ${name.replaceAll('_', ' ')} of a place or of a person.`,
  }))

const exchanges = exchangeRuns()
/** Each request occurs once. */
const samples: readonly Sample[] = [
  ...exchanges.map(({ run, context }, index) => ({
    run,
    context,
    tools: described(
      [0, 7, 14].flatMap((step) => exchanges[(index + step) % exchanges.length]!.run.toolCalls.map(({ name }) => name)),
    ),
  })),
  ...recordedRuns(({ userInput }) => userInput).map((run) => ({
    run,
    context: ['Nothing is known.'],
    tools: described(['weather', 'search', 'calendar']),
  })),
]
const invented = new Set(exchanges.map(({ run }) => run.userInput ?? ''))

const published = new Set(
  globSync('src/{judge,scorers}/**/*.ts')
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => words(readFileSync(file, 'utf8'))),
)

const share = (count: number, all: number): number => count / Math.max(1, all)
const pairsOf = (own: readonly string[]): string[] => own.slice(1).map((word, index) => `${own[index]} ${word}`)
const sharedBy = (own: readonly string[], other: readonly string[]): number => {
  const shown = new Set(other)
  return share(own.filter((one) => shown.has(one)).length, own.length)
}
const most = (values: readonly number[]): number => Math.max(0, ...values)

/** The features by which a judge may recognise a control. */
const features: Readonly<Record<string, (text: string, seen: Seen) => number>> = {
  id: (_, { id }) => Number.parseInt(id.slice(1), 32) % 1024,
  'parity of the id': (_, { id }) => Number.parseInt(id.slice(1), 32) % 2,
  position: (_, { position }) => position,
  texts: (_, { others }) => others.length,
  'length in words': (text) => words(text).length,
  'length in characters': (text) => text.length,
  'length of a word': (text) => share(words(text).join('').length, words(text).length),
  'longest word': (text) => most(words(text).map(({ length }) => length)),
  punctuation: (text) => text.replaceAll(/[\p{L}\p{N}\s]/gu, '').length,
  'punctuation at the end': (text) => (/[.!?]$/.test(text) ? 1 : 0),
  digits: (text) => text.replaceAll(/\D/g, '').length,
  capitals: (text) => share(text.replaceAll(/\P{Lu}/gu, '').length, text.length),
  'capitals within sentences': (text) => (text.match(/[\p{L},] \p{Lu}/gu) ?? []).length,
  'small letter at the start': (text) => (/^\P{L}*\p{Ll}/u.test(text) ? 1 : 0),
  'short words with a capital': (text) => (text.match(/ \p{Lu}\p{Ll}{0,2}\b/gu) ?? []).length,
  'short words': (text) => share(words(text).filter(({ length }) => length <= 3).length, words(text).length),
  'length of the first word': (text) => words(text)[0]?.length ?? 0,
  'length of the last word': (text) => words(text).at(-1)?.length ?? 0,
  'short words in a row': (text) =>
    share(pairsOf(words(text)).filter((pair) => /^.{1,3} .{1,3}$/u.test(pair)).length, words(text).length),
  'long words in a row': (text) =>
    share(pairsOf(words(text)).filter((pair) => /^\S{4,} \S{4,}$/u.test(pair)).length, words(text).length),
  'different words': (text) => share(new Set(words(text)).size, words(text).length),
  'a word twice in a row': (text) => pairsOf(words(text)).filter((pair) => /^(\S+) \1$/.test(pair)).length,
  'repeated pairs of words': (text) => pairsOf(words(text)).length - new Set(pairsOf(words(text))).size,
  'words that the material has': (text, { material }) => sharedBy(words(text), words(material)),
  'pairs of words that the material has': (text, { material }) =>
    sharedBy(pairsOf(words(text)), pairsOf(words(material))),
  'words in common with another text': (text, { others }) =>
    most(others.map((other) => sharedBy(words(text), words(other)))),
  'words in common with all other texts': (text, { others }) => sharedBy(words(text), words(others.join('\n'))),
  'pairs of words in common with another text': (text, { others }) =>
    most(others.map((other) => sharedBy(pairsOf(words(text)), pairsOf(words(other))))),
  'words that our source has': (text) =>
    share(words(text).filter((word) => published.has(word)).length, words(text).length),
}
const names = Object.keys(features).flatMap((name) => [name, `${name}, compared`])

/** All features, each also compared to the mean of the other texts. */
function toRow(seen: Seen, score: string, group: string): Row {
  const around = [seen.text, ...seen.others]
  const values = Object.values(features).flatMap((feature) => {
    const own = feature(seen.text, seen)
    const ofOthers = seen.others.map((text, index) =>
      feature(text, { ...seen, text, others: around.filter((_, other) => other !== index + 1) }),
    )
    return [own, ofOthers.length === 0 ? 0 : own - ofOthers.reduce((sum, one) => sum + one, 0) / ofOthers.length]
  })
  return { values, isControl: seen.isControl, score, group }
}

/** The texts of a section of lines with ids, and which of them are controls. */
function listed({ sections }: JudgePrompt, title: string, isControl: (id: string) => boolean): Seen[] {
  const lines = (sections.get(title) ?? '').split('\n').flatMap((line) => {
    const [, id, text = ''] = /^(\w+): (.*)$/.exec(line) ?? []
    return id === undefined ? [] : [{ id, text }]
  })
  return lines.map(({ id, text }, index) => ({
    id,
    text,
    position: share(index, lines.length - 1),
    material: materialOf(sections, (other) => other === title),
    others: lines.filter((other) => other.id !== id).map((other) => other.text),
    isControl: isControl(id),
  }))
}

function materialOf(sections: JudgePrompt['sections'], isLeftOut: (title: string) => boolean): string {
  return [...sections].flatMap(([title, text]) => (isLeftOut(title) ? [] : [text])).join('\n')
}

/** All texts that a call asks about beside decoys. */
function seenIn(message: string, varied: string | undefined): { readonly kind: string; readonly seen: Seen[] }[] {
  const prompt = readJudgePrompt(message)
  const { sections, questions, lists, outside } = prompt
  const controls = new Set(questions.flatMap(({ shownId, isControl }) => (isControl ? [shownId] : [])))
  const found = [...sections.keys()].flatMap((title) =>
    title.startsWith('texts for ') ? [{ kind: 'items', seen: listed(prompt, title, (id) => controls.has(id)) }] : [],
  )
  for (const { name, givenSentences } of lists) {
    const seen = listed(prompt, `items of "${name}" found before`, (id) => !givenSentences.has(id))
    if (seen.length > 0) found.push({ kind: 'items', seen })
  }
  const beside = sections.get('another text, which is not judged')
  const judged = sections.get(varied ?? '')
  if (beside !== undefined && judged !== undefined) {
    const material = materialOf(sections, (title) => title === varied || title.startsWith('another text'))
    const isControl = questions.some((question) => question.isControl)
    const ids = questions.map(({ shownId }) => shownId)
    found.push({
      kind: 'whole text',
      seen: [{ id: ids[0] ?? 'q0', text: judged, position: 0, material, others: [beside], isControl }],
    })
  }
  const versions = [...outside.matchAll(/^About version ([A-C]) of (.*?): (q\w+)/gm)]
  for (const [index, [, letter, title, id = '']] of versions.entries()) {
    const texts = versions.map(([, other]) => sections.get(`${title}, version ${other}`) ?? '')
    found.push({
      kind: 'whole text',
      seen: [
        {
          id,
          text: sections.get(`${title}, version ${letter}`) ?? '',
          position: index,
          material: materialOf(sections, (other) => /, version [A-C]$/.test(other)),
          others: texts.filter((_, other) => other !== index),
          isControl: controls.has(id),
        },
      ],
    })
  }
  return found
}

/** Items as a judge may list them: beginnings and ends of the sentences, and what is left of them without some words. */
function itemsOf(text = '', verdict = ''): { text: string; verdict: string }[] {
  return toSentences(text, 15).map((sentence, index) => {
    const own = sentence.split(' ')
    const kept = [own.slice(0, 9), own.filter((_, at) => at % 4 !== 2), own.slice(-9)][index % 3] ?? own
    return { text: kept.join(' '), verdict }
  })
}

interface Kind {
  readonly varied?: string
  readonly script: (run: AgentRun) => Parameters<typeof createScriptedJudge>[0]
  readonly create: (model: TextModel, judge: JudgeSettings, sample: Sample) => Scorer
}

const sides = ['intent', 'completeness', 'appropriateness'].map((name) => [`user.${name}`, '0'] as const)

const kinds: Readonly<Record<string, Kind>> = {
  faithfulness: {
    script: ({ output }) => ({ lists: { claims: itemsOf(output, 'unsupported') } }),
    create: (model, judge, { context }) =>
      createFaithfulnessScorer({ model, judge, options: { context: [...context] } }),
  },
  'answer relevancy': {
    script: ({ output }) => ({ lists: { statements: itemsOf(output, 'irrelevant') } }),
    create: (model, judge) => createAnswerRelevancyScorer({ model, judge }),
  },
  completeness: {
    script: ({ userInput }) => ({ lists: { elements: itemsOf(userInput, 'missing') } }),
    create: (model, judge) => createCompletenessScorer({ model, judge }),
  },
  rubric: {
    varied: "the agent's answer",
    script: () => ({ verdicts: { a: 'pass' } }),
    create: (model, judge) => createRubricScorer({ model, judge, criteria: [{ id: 'a', question: 'Is it polite?' }] }),
  },
  'prompt alignment': {
    varied: "the agent's response",
    script: ({ userInput }) => ({
      verdicts: Object.fromEntries(sides),
      lists: { userRequirements: itemsOf(userInput, 'no') },
    }),
    create: (model, judge) => createPromptAlignmentScorerLLM({ model, judge, options: { evaluationMode: 'user' } }),
  },
  'tool calls': {
    varied: "the user's request",
    script: () => ({
      verdicts: {
        no_call: 'no',
        missing: 'none',
        ...Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`call_${index + 1}`, 'inappropriate'])),
      },
    }),
    create: (model, judge, { tools }) => createToolCallAccuracyScorerLLM({ model, judge, availableTools: tools }),
  },
}

async function collect({ varied, script, create }: Kind, hardening: 'basic' | 'strong'): Promise<Map<string, Row[]>> {
  const rows = new Map<string, Row[]>()
  for (const [index, sample] of samples.entries()) {
    const { run } = sample
    const model = createScriptedJudge(script(run))
    await create(model, { hardening }, sample)
      .run(run)
      .catch(() => undefined)
    for (const { prompt } of model.calls) {
      for (const { kind, seen } of seenIn(prompt, varied)) {
        const own = seen.map((one) => toRow(one, String(index), run.userInput ?? ''))
        rows.set(kind, [...(rows.get(kind) ?? []), ...own])
      }
    }
  }
  return rows
}

/** Above chance, within two standard errors. What is measured is in docs/judges.md. Basic hardening promises nothing. */
const MOST = { strong: 0.05, basic: 0.5 }

// Basic hardening is only measured, for the table.
const settings = process.env.SHOW_TABLE === undefined ? (['strong'] as const) : (['strong', 'basic'] as const)
describe.each(settings)('with %s hardening', (hardening) => {
  it.each(Object.keys(kinds))(
    'a classifier that learnt from other runs finds the controls of %s at most 5 points above chance',
    async (name) => {
      seedRandomness(7)
      const found = await collect(kinds[name]!, hardening)
      expect(found.size).toBeGreaterThan(0)
      for (const [kind, rows] of found) {
        const { points, error, gain } = advantage(rows)
        if (process.env.SHOW_TABLE !== undefined) {
          const shown = [
            ['all runs', { points, error }],
            ['invented', advantage(rows, (group) => invented.has(group))],
            ['recorded', advantage(rows, (group) => !invented.has(group))],
          ] as const
          const total = gain.reduce((sum, one) => sum + one, 0)
          const used = gain
            .map((won, index) => [names[index], won / total] as const)
            .toSorted((one, other) => other[1] - one[1])
          console.log(
            `found: ${hardening}, ${name}, ${kind}: ${rows.length}, ` +
              shown.map(([of, one]) => `${of} ${percent(one.points)} ± ${percent(one.error)}`).join(', ') +
              used
                .slice(0, 4)
                .map(([feature, part]) => `, ${feature} ${percent(part)} %`)
                .join(''),
          )
        }
        expect(points - 2 * error).toBeLessThan(MOST[hardening])
      }
    },
    120_000,
  )
})

function percent(part: number): string {
  return (100 * part).toFixed(1)
}
