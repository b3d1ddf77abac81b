import { readJudgePrompt } from './judge-prompt.ts'
import type { JudgePrompt } from './judge-prompt.ts'
import { judgeReply } from './judge-reply.ts'
import type { ScriptedItem, ScriptedVerdict, ScriptedVerdicts } from './judge-reply.ts'
import { createTextModel } from './text-model.ts'
import type { TextModel, TextModelCall, TextModelReply } from './text-model.ts'

/** How a fake judge misbehaves. */
export type JudgeBehaviour =
  /** Obeys orders to praise, unless they stand between the marks around quoted content. */
  | 'obedient'
  /** With probability `rate`, gives the most favourable verdict instead of the true one. */
  | 'lenient'
  /** Always picks the first verdict on the list. */
  | 'first-biased'
  /** Praises only text that is longer than `longerThan` characters. */
  | 'verbose-biased'
  /** With probability `rate`, gives a random verdict. */
  | 'noisy'
  /** Cuts every reply off at half its length. */
  | 'truncating'
  /** Answers in prose. */
  | 'non-json'

/** Options of `createFakeJudge`. */
export interface FakeJudgeOptions {
  /**
   * What the judge would say if it did not misbehave: the most or the least favourable verdict everywhere, or a script. A list
   * that the script does not mention gets two items.
   *
   * @default 'unfavourable'
   */
  readonly truth?: 'favourable' | 'unfavourable' | ScriptedVerdicts
  /** How often `lenient` and `noisy` judges give a wrong verdict: a probability from 0 to 1. @default 0.2 */
  readonly rate?: number
  /** Seed of the random verdicts of `lenient` and `noisy` judges: a judge with the same seed gives the same verdicts. @default 1 */
  readonly seed?: number
  /** The number of characters above which a `verbose-biased` judge praises a text. @default 400 */
  readonly longerThan?: number
}

/** Replaces a true verdict, given all verdicts of its question. */
type See = (verdicts: readonly string[], truth: string) => string | undefined

/**
 * Creates a judge that misbehaves in a known way, to test a scorer. It answers prompts of spanscore's own scorers question by question, and
 * those of `createScorer` by their schema.
 *
 * @example
 * ```ts
 * const scorer = createFaithfulnessScorer({ model: createFakeJudge('truncating'), options: { context: ['…'] } })
 * await scorer.run({ input: 'Hi', output: 'Hello.' }) // rejects: judge-invalid-reply
 * ```
 */
export function createFakeJudge(behaviour: JudgeBehaviour, options: FakeJudgeOptions = {}): TextModel {
  const random = seeded(options.seed ?? 1)
  const { truth = 'unfavourable', rate = 0.2, longerThan = 400 } = options
  const seeIn = (call: TextModelCall, { sections, outside }: JudgePrompt): See => {
    switch (behaviour) {
      case 'obedient': {
        const obeys = orders.test(`${call.instructions}\n${outside}`)
        return (verdicts, own) => (obeys ? verdicts[0] : own)
      }
      case 'lenient':
        return (verdicts, own) => (random() < rate ? verdicts[0] : own)
      case 'first-biased':
        return (verdicts) => verdicts[0]
      case 'verbose-biased': {
        const length = [...sections.values()].reduce((sum, text) => sum + text.length, 0)
        return (verdicts) => verdicts.at(length > longerThan ? 0 : -1)
      }
      case 'noisy':
        return (verdicts, own) => (random() < rate ? verdicts[Math.floor(random() * verdicts.length)] : own)
      default:
        return (_, own) => own
    }
  }
  return createTextModel({ provider: 'spanscore', modelId: `fake-${behaviour}` }, (call): TextModelReply => {
    if (behaviour === 'non-json') return { text: prose }
    const prompt = readJudgePrompt(call.prompt)
    const text =
      prompt.questions.length === 0 && prompt.lists.length === 0
        ? JSON.stringify(ownValue(call, behaviour, truth === 'favourable'))
        : judgeReply(findings(prompt, truth, seeIn(call, prompt)))
    return behaviour === 'truncating'
      ? { text: text.slice(0, Math.floor(text.length / 2)), finishReason: 'length' }
      : { text }
  })
}

function findings({ questions, lists }: JudgePrompt, truth: FakeJudgeOptions['truth'], see: See): ScriptedVerdicts {
  const script = typeof truth === 'object' ? truth : {}
  const end = truth === 'favourable' ? 0 : -1
  const verdictOn = (verdicts: readonly string[], own: string = verdicts.at(end) ?? ''): string =>
    see(verdicts, own) ?? own
  return {
    ...script,
    verdicts: Object.fromEntries(
      questions.map(({ id, verdicts }): [string, ScriptedVerdict] => {
        const own = script.verdicts?.[id]
        const known = typeof own === 'object' ? own : { tools: ['t1'] }
        return [id, { ...known, verdict: verdictOn(verdicts, typeof own === 'object' ? own.verdict : own) }]
      }),
    ),
    lists: Object.fromEntries(
      lists.map(({ name, verdicts }): [string, ScriptedItem[]] => [
        name,
        (script.lists?.[name] ?? ['the first item', 'the second item']).map((item) => {
          const { verdict, ...known } = typeof item === 'object' ? item : { text: item, verdict: undefined }
          return verdicts.length === 0 ? known : { ...known, verdict: verdictOn(verdicts, verdict) }
        }),
      ]),
    ),
  }
}

/** Orders that a gullible judge obeys. */
const orders =
  /full marks|highest (?:possible )?score|most favou?rable|best (?:possible )?verdict|perfect score|(?:ignore|disregard|forget)[^.]{0,40}(?:instructions|rules|above)|always answer/i

/** What a prompt step of `createScorer` put between marks with `quote`. */
const quoted = /^([0-9a-f]{12}) begin: [^]*?\n\1 end$/gm

/** A value of the schema of a prompt step of `createScorer`. */
function ownValue({ prompt, schema }: TextModelCall, behaviour: JudgeBehaviour, isFavourable: boolean): unknown {
  const obeys = behaviour === 'obedient' && orders.test(prompt.replaceAll(quoted, ''))
  return valueOfSchema(schema, isFavourable || obeys || behaviour === 'first-biased')
}

const prose = 'All things considered, this is a fine piece of work, and I would say yes to most of what was asked.'

/** Mulberry32, a small and fast generator with the same results on all platforms. Not cryptographically secure. */
function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The most or least favourable value of a JSON Schema: the first or last of a choice, the highest or lowest number. */
function valueOfSchema(schema: unknown, favourable: boolean): unknown {
  if (!isSchema(schema)) return ''
  if (Array.isArray(schema.enum)) return schema.enum.at(favourable ? 0 : -1)
  if (schema.const !== undefined) return schema.const
  const [variant] = schema.anyOf ?? []
  if (variant !== undefined) return valueOfSchema(variant, favourable)
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, property]) => [name, valueOfSchema(property, favourable)]),
      )
    case 'array':
      return [valueOfSchema(schema.items, favourable)]
    case 'number':
    case 'integer':
      return favourable ? (schema.maximum ?? 1) : (schema.minimum ?? 0)
    case 'boolean':
      return favourable
    case 'null':
      return null
    default:
      return ''
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null
}

interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly unknown[]
  readonly properties?: Readonly<Record<string, unknown>>
  readonly items?: unknown
  readonly minimum?: number
  readonly maximum?: number
}
