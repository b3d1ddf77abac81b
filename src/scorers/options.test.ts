import { describe, expect, it } from 'vitest'

import * as prebuilt from '../entries/scorers.ts'
import { createScriptedJudge } from '../testing/scripted-judge.ts'

type Make = (options?: unknown) => unknown
type Options = Readonly<Record<string, unknown>>

interface Factory {
  readonly make: Make
  /** What it cannot be made without. */
  readonly required: Options
  /** What `{}` is answered with; none: it is made. */
  readonly missing?: string
  /** All options, in the order in which they are passed. */
  readonly known: string
  /** Wrong options, and what the error says of them. */
  readonly wrong: readonly (readonly [Options, string])[]
}

const model = createScriptedJudge({})
const prompt = { description: 'Rates.', createPrompt: () => '' }
const criteria = [{ id: 'polite', question: 'Is it polite?' }]
const context = 'expected options.context to be a list of texts, or a function, got'
const needsModel = 'expected model to be an AI SDK model'

// The factories are called as JavaScript calls them: with anything.
const untyped = (make: unknown): Make => make as Make

const factories: Readonly<Record<string, Factory>> = {
  createAbandonedScorer: {
    make: untyped(prebuilt.createAbandonedScorer),
    required: {},
    known: 'id, passAt',
    wrong: [],
  },
  createRepeatedQuestionScorer: {
    make: untyped(prebuilt.createRepeatedQuestionScorer),
    required: {},
    known: 'id, passAt',
    wrong: [],
  },
  createResolutionScorer: {
    make: untyped(prebuilt.createResolutionScorer),
    required: { model },
    missing: needsModel,
    known: 'id, passAt, model, judge, level, goals',
    wrong: [
      [{ goals: 'refund' }, 'expected goals to be a list of texts, got "refund"'],
      [{ goals: Array.from({ length: 9 }, () => 'a') }, 'expected goals to be at most 8'],
      [{ level: 'turn' }, "expected level to be 'run' or 'conversation'"],
    ],
  },
  createCutOffScorer: { make: untyped(prebuilt.createCutOffScorer), required: {}, known: 'id, passAt', wrong: [] },
  createToolPolicyScorer: {
    make: untyped(prebuilt.createToolPolicyScorer),
    required: { forbidden: ['x'] },
    missing: 'expected at least one of allowed, forbidden, before, atMost',
    known: 'id, passAt, level, allowed, forbidden, before, atMost',
    wrong: [
      [{ allowed: 'a' }, 'expected allowed to be a list of texts, got "a"'],
      [{ before: { refund: [] } }, 'expected before to be lists of tools by tool'],
      [{ before: ['verify'] }, 'expected before to be lists of tools by tool'],
      [{ atMost: { refund: 0.5 } }, 'expected atMost to be whole numbers by tool'],
      [{ level: 'turn' }, "expected level to be 'run' or 'conversation'"],
    ],
  },
  createToolArgumentsScorerLLM: {
    make: untyped(prebuilt.createToolArgumentsScorerLLM),
    required: { model },
    missing: needsModel,
    known: 'id, passAt, model, judge',
    wrong: [],
  },
  createAnswerCorrectnessScorer: {
    make: untyped(prebuilt.createAnswerCorrectnessScorer),
    required: { model },
    missing: needsModel,
    known: 'id, passAt, model, judge, options',
    wrong: [[{ options: { groundTruth: 7 } }, 'expected options.groundTruth to be a string, or a function']],
  },
  createInjectionScorer: {
    make: untyped(prebuilt.createInjectionScorer),
    required: { model },
    missing: needsModel,
    known: 'id, passAt, model, judge, level',
    wrong: [[{ level: 'turn' }, "expected level to be 'run' or 'conversation'"]],
  },
  createUserFrictionScorer: {
    make: untyped(prebuilt.createUserFrictionScorer),
    required: { model },
    missing: needsModel,
    known: 'id, passAt, model, judge, count',
    wrong: [[{ count: ['sighs'] }, 'expected count to be a list of repeats, corrects, complains, gives_up']],
  },
  createKnowledgeRetentionScorer: {
    make: untyped(prebuilt.createKnowledgeRetentionScorer),
    required: { model },
    missing: needsModel,
    known: 'id, passAt, model, judge',
    wrong: [],
  },
  createAnswerPresentScorer: {
    make: untyped(prebuilt.createAnswerPresentScorer),
    required: {},
    known: 'id, passAt, allowRefusals, refusals',
    wrong: [
      [{ allowRefusals: 'no' }, 'expected allowRefusals to be true or false, got "no"'],
      [{ refusals: /no/ }, 'expected refusals to be a list of RegExp'],
    ],
  },
  createAnswerRelevancyScorer: {
    make: untyped(prebuilt.createAnswerRelevancyScorer),
    required: { model },
    missing: needsModel,
    known: 'id, passAt, model, judge',
    // Mastra's scorer has a scale: a score from 0 to 1 where one from 0 to 10 is expected would be a failure unseen.
    wrong: [[{ options: { scale: 10 } }, 'got an unknown option: "options"']],
  },
  createCompletenessScorer: {
    make: untyped(prebuilt.createCompletenessScorer),
    required: { model },
    missing: needsModel,
    known: 'id, passAt, model, judge',
    wrong: [],
  },
  createContextualRecallScorer: {
    make: untyped(prebuilt.createContextualRecallScorer),
    required: { model },
    missing: needsModel,
    known: 'id, passAt, model, judge, options',
    wrong: [
      [{ options: { contxt: [] } }, 'options: expected one of context, groundTruth, got an unknown option'],
      [{ options: { groundTruth: 5 } }, 'expected options.groundTruth to be a string, or a function, got 5'],
      [{ options: { context: 'Oslo' } }, `${context} "Oslo"`],
    ],
  },
  createRetrievalRelevanceScorer: {
    make: untyped(prebuilt.createRetrievalRelevanceScorer),
    required: { model },
    missing: needsModel,
    known: 'id, passAt, model, judge, measure, k',
    wrong: [
      [{ measure: 'recall' }, "expected measure to be 'precision', 'hit' or 'ranked', got \"recall\""],
      [{ k: 0 }, 'expected k to be a whole number of at least 1, got 0'],
    ],
  },
  createFaithfulnessScorer: {
    make: untyped(prebuilt.createFaithfulnessScorer),
    required: { model },
    missing: needsModel,
    known: 'id, passAt, model, judge, options',
    wrong: [
      [{ options: { contxt: [] } }, 'options: expected one of context, got an unknown option: "contxt".'],
      [{ options: { scale: 10 } }, 'got an unknown option: "scale"'],
      [{ options: { context: [5] } }, `${context} [5]`],
      [{ options: null }, 'options: expected an object of options, got null.'],
    ],
  },
  createHallucinatedToolScorer: {
    make: untyped(prebuilt.createHallucinatedToolScorer),
    required: {},
    known: 'id, passAt, tools',
    wrong: [
      [{ tools: 'search' }, 'expected tools to be a list of texts, got "search"'],
      [{ tools: [{ name: 'search' }] }, 'expected tools to be a list of texts'],
    ],
  },
  createHallucinationScorer: {
    make: untyped(prebuilt.createHallucinationScorer),
    required: { model },
    missing: needsModel,
    known: 'id, passAt, model, judge, options',
    wrong: [
      [{ options: { getContext: () => [] } }, 'options: expected one of context, got an unknown option'],
      [{ options: { context: 'Oslo' } }, `${context} "Oslo"`],
    ],
  },
  createKeywordCoverageScorer: {
    make: untyped(prebuilt.createKeywordCoverageScorer),
    required: { keywords: ['Oslo'] },
    missing: 'expected keywords to be words, phrases or lists of alternatives, got undefined',
    known: 'id, passAt, keywords, caseSensitive, wholeWords',
    wrong: [
      [{ keywords: 'Oslo' }, 'expected keywords to be words'],
      [{ wholeWords: 0 }, 'expected wholeWords to be true or false, got 0'],
      [{ caseSensitive: null }, 'expected caseSensitive to be true or false, got null'],
    ],
  },
  createLoopScorer: {
    make: untyped(prebuilt.createLoopScorer),
    required: {},
    known: 'id, passAt, level, maxIdentical, ignore',
    wrong: [
      [{ maxIdentcal: 3 }, 'expected one of id, passAt, level, maxIdentical, ignore, got an unknown option'],
      [{ maxIdentical: '3' }, 'expected maxIdentical to be a whole number from 1, got "3"'],
      [{ ignore: 'get_status' }, 'expected ignore to be a list of texts, got "get_status"'],
    ],
  },
  createOutputFormatScorer: {
    make: untyped(prebuilt.createOutputFormatScorer),
    required: { json: true },
    missing: 'expected at least one of json, schema, pattern, forbidden, minLength, maxLength',
    known: 'id, passAt, json, schema, allowFence, pattern, forbidden, minLength, maxLength',
    wrong: [
      [{ json: 'yes' }, 'expected json to be true or false, got "yes"'],
      [{ allowFence: 1 }, 'expected allowFence to be true or false, got 1'],
      [{ maxLength: '600' }, 'expected maxLength to be a non-negative number, got "600"'],
      [{ minLength: Number.NaN }, 'expected minLength to be a non-negative number, got NaN'],
      [{ minLength: 9, maxLength: 5 }, 'expected maxLength to be minLength, 9, or more, got 5'],
      [{ schema: '{}' }, 'expected schema to be JSON Schema'],
      [{ schema: { '~standard': { version: 1 } } }, 'expected schema to be JSON Schema'],
      [{ schema: {}, json: false }, 'expected json to be true if a schema is given, got false'],
      [{ pattern: '^a' }, 'expected pattern to be a RegExp, or several, got "^a"'],
    ],
  },
  createPromptAlignmentScorerLLM: {
    make: untyped(prebuilt.createPromptAlignmentScorerLLM),
    required: { model },
    missing: needsModel,
    known: 'id, passAt, model, judge, options',
    wrong: [
      [{ options: { scle: 10 } }, 'options: expected one of scale, evaluationMode, includeConversationHistory, got'],
      [{ options: { evaluationMode: 'users' } }, "expected options.evaluationMode to be 'user', 'system' or 'both'"],
      [
        { options: { includeConversationHistory: { maxMessages: 5 } } },
        'expected options.includeConversationHistory to be a boolean or a number of messages',
      ],
    ],
  },
  createRubricScorer: {
    make: untyped(prebuilt.createRubricScorer),
    required: { model, criteria },
    missing: 'expected criteria to be a list of at least one, got undefined',
    known: 'id, passAt, model, judge, criteria, level',
    wrong: [
      [
        { criteria: [{ ...criteria[0], wieght: 3 }] },
        'criteria[0]: expected one of id, question, weight, required, description, got',
      ],
      [{ criteria: [{ title: 'It is polite.' }] }, 'got an unknown option: "title"'],
      [
        { criteria: ['polite'] },
        'expected a criterion, one of safe, unbiased, in_scope, keeps_secrets, no_refusal, or { tone }, got "polite"',
      ],
      [{ criteria: [null] }, 'criteria[0]: expected an object of options, got null'],
      [{ criteria: [{ id: 5, question: 'x' }] }, 'expected criteria[0].id to be letters, digits, _, - and ., got 5'],
      [{ criteria: [{ ...criteria[0], required: 'no' }] }, 'expected criteria[0].required to be true or false'],
    ],
  },
  createRunLimitsScorer: {
    make: untyped(prebuilt.createRunLimitsScorer),
    required: { maxSteps: 3 },
    missing: 'expected at least one of maxSteps, maxToolCalls, maxInputTokens, maxOutputTokens, maxDurationMs',
    known: 'id, passAt, level, maxTurns, maxSteps, maxToolCalls, maxInputTokens, maxOutputTokens, maxDurationMs',
    wrong: [
      [{ maxSteps: '8' }, 'expected maxSteps to be a non-negative number, got "8"'],
      [{ maxDurationMs: null }, 'expected maxDurationMs to be a non-negative number, got null'],
    ],
  },
  createScorer: {
    make: (options) => untyped(prebuilt.createScorer)(options),
    required: { id: 'mine', description: 'x' },
    missing: 'expected an id or a name, got undefined',
    known: 'id, name, description, level, type, range, better, passAt, version, judge, inline, needs, mayLack',
    wrong: [
      [{ prepareRun: () => ({}) }, 'got an unknown option: "prepareRun"'],
      [{ needs: ['toolResult'] }, 'expected needs to be a list of input, output, '],
      [{ type: 'trajectory' }, "expected type to be 'agent', or { input, output }"],
      [{ inline: 'yes' }, 'expected inline to be true or false, got "yes"'],
      [{ description: 5 }, 'expected description to be a string, got 5'],
      [{ version: {} }, 'expected version to be a string or a number, got {}'],
      [
        { judge: { model, instruction: 'x' } },
        'judge: expected one of maxCallsPerScore, maxOutputTokens, temperature,',
      ],
    ],
  },
  createSummarizationScorer: {
    make: untyped(prebuilt.createSummarizationScorer),
    required: { model },
    missing: needsModel,
    known: 'id, passAt, model, judge, options',
    wrong: [
      [{ options: { maxQuestion: 5 } }, 'options: expected one of scale, source, sourceExtractor, maxQuestions, got'],
      [{ options: { source: 5 } }, 'expected options.source to be a string, got 5'],
      [{ options: { sourceExtractor: 'x' } }, 'expected options.sourceExtractor to be a function of the run, got "x"'],
    ],
  },
  createToolArgumentsScorer: {
    make: untyped(prebuilt.createToolArgumentsScorer),
    required: {},
    known: 'id, passAt, tools, expected, strict, count',
    wrong: [
      [{ strict: 'yes' }, 'expected strict to be true or false, got "yes"'],
      [{ tools: { search: {} } }, 'expected tools to be a list of { name, parameters: JSON Schema }'],
      [{ tools: [{ name: 'a', inputSchema: {} }] }, 'expected tools to be a list of'],
      [{ tools: [{ name: 'a', parameters: { '~standard': {} } }] }, 'expected tools to be a list of'],
      [{ expected: [{ name: 'a', args: {} }] }, 'expected "expected" to be calls'],
    ],
  },
  createToolCallAccuracyScorerCode: {
    make: untyped(prebuilt.createToolCallAccuracyScorerCode),
    required: { expectedTool: 'weather' },
    missing: 'Either expectedTool or expectedToolOrder must be provided',
    known: 'id, passAt, expectedTool, strictMode, expectedToolOrder, count',
    wrong: [
      [{ expectedToolOrder: 'weather' }, 'expected expectedToolOrder to be a list of names, or a function'],
      [{ strictMode: 1 }, 'expected strictMode to be true or false, got 1'],
    ],
  },
  createToolCallAccuracyScorerLLM: {
    make: untyped(prebuilt.createToolCallAccuracyScorerLLM),
    required: { model },
    missing: needsModel,
    known: 'id, passAt, model, judge, availableTools, missingTools',
    wrong: [
      [{ availableTools: ['search'] }, 'expected availableTools to be a list of { name, description? }'],
      [{ availableTools: { search: {} } }, 'expected availableTools to be a list of { name, description? }'],
      [{ missingTools: 'ignore' }, `expected missingTools to be 'count' or 'report', got "ignore"`],
    ],
  },
  createToolErrorsScorer: {
    make: untyped(prebuilt.createToolErrorsScorer),
    required: {},
    known: 'id, passAt, level, countRecovered',
    wrong: [[{ countRecovered: 'false' }, 'expected countRecovered to be true or false, got "false"']],
  },
  createTrajectoryScorer: {
    make: untyped(prebuilt.createTrajectoryScorer),
    required: { expected: ['weather'] },
    missing: `expected "expected" to be calls (a tool's name, or { name, arguments }) or a function, got undefined`,
    known: 'id, passAt, level, expected, mode, measure, ignore, count',
    wrong: [
      [{ count: 'ok' }, "expected count to be 'all' or 'succeeded', got \"ok\""],
      [{ expected: [{ name: 'a', args: { city: 'Oslo' } }] }, 'expected "expected" to be calls'],
      [{ expected: [{ name: 'a', arguments: '{}' }] }, 'expected "expected" to be calls'],
      [{ mode: 'loose' }, 'expected mode to be one of exact, ordered, unordered, subset, superset, got "loose"'],
      [{ ignore: 'get_time' }, 'expected ignore to be a list of texts, got "get_time"'],
    ],
  },
  SummarizationMetric: {
    make: (options) => new prebuilt.SummarizationMetric(model, options as prebuilt.SummarizationMetricOptions),
    required: {},
    known: 'scale, judge, timeoutMs',
    wrong: [
      [{ scale: '10' }, 'expected scale to be a positive number, got "10"'],
      [{ timeoutMs: Number.NaN }, 'expected timeoutMs to be milliseconds above 0, got NaN'],
    ],
  },
}

const withModel = Object.entries(factories).filter(([, { known }]) => known.includes('model'))
const withJudge = Object.entries(factories).filter(([, { known }]) => known.includes('judge'))
const needsNothing = Object.entries(factories).filter(([, { missing }]) => missing === undefined)
const needsSomething = Object.entries(factories).filter(([, { missing }]) => missing !== undefined)
const wrongOptions = Object.entries(factories).flatMap(([name, { make, required, wrong }]) =>
  wrong.map(([options, message]) => ({ name, make: () => make({ ...required, ...options }), options, message })),
)

it('every factory of the entry is covered by these tests', () => {
  const exported = Object.keys(prebuilt).filter((name) => /^create\w*Scorer|Metric$/.test(name))
  expect(Object.keys(factories).toSorted()).toEqual(exported.toSorted())
})

describe.each(Object.entries(factories))('%s', (name, { make, required, known }) => {
  it('accepts its required options', () => {
    expect(make(required)).toBeTypeOf('object')
  })

  it.each([null, 5, 'openai/gpt-5-mini', [], () => 1])('refuses %j, which are no options', (options) => {
    expect(() => make(options)).toThrow(TypeError)
    expect(() => make(options)).toThrow(new RegExp(`^${name}: expected an object of options, got .+\\.$`))
  })

  it('refuses an unknown option, and names the known ones', () => {
    const question = known.includes('passAt') ? ' Did you mean passAt?' : ''
    expect(() => make({ ...required, passAtt: 1 })).toThrow(
      new TypeError(`${name}: expected one of ${known}, got an unknown option: "passAtt".${question}`),
    )
    expect(() => make(JSON.parse('{ "__proto__": 1 }'))).toThrow('got an unknown option: "__proto__"')
  })
})

it.each(needsNothing)('%s is made without options', (_, { make }) => {
  expect([make(), make({})]).toEqual([expect.any(Object), expect.any(Object)])
})

it.each(needsSomething)('%s names its required options', (name, { make, missing }) => {
  const isReference = name === 'createToolCallAccuracyScorerCode'
  expect(() => make()).toThrow(isReference ? missing : `${name}: expected an object of options, got undefined.`)
  expect(() => make({})).toThrow(missing)
})

it.each(wrongOptions)('$name refuses $options', ({ make, message }) => {
  expect(make).toThrow(TypeError)
  expect(make).toThrow(message)
  expect(make).toThrow(/^(?:create\w*Scorer\w*|SummarizationMetric|Scorer \w+)\b/)
})

describe.each(withModel)('%s', (_, { make, required }) => {
  it.each([5, null, 'gpt-5-mini', {}, { id: 'openai/gpt-5-mini', baseUrl: 'http://127.0.0.1:1/v1' }])(
    'refuses %j as its model',
    (wrong) => {
      expect(() => make({ ...required, model: wrong })).toThrow(/^Scorer \w+: expected model to /)
    },
  )
})

describe.each(withJudge)('%s', (name, { make, required }) => {
  it('refuses wrong or unknown settings of its judge', () => {
    const judge = name === 'createScorer' ? { model } : {}
    expect(() => make({ ...required, judge: { ...judge, timeoutms: 5 } })).toThrow(
      new RegExp(`^${name} judge: expected one of maxCallsPerScore, .+ unknown option: "timeoutms"\\.$`),
    )
    expect(() => make({ ...required, judge: null })).toThrow(`${name} judge: expected an object of options, got null.`)
    const wrong = () => {
      const made = make({ ...required, judge: { ...judge, maxCallsPerScore: '4' } })
      return name === 'createScorer' ? (made as { readonly generateScore: Make }).generateScore(prompt) : made
    }
    expect(wrong).toThrow(/: expected judge\.maxCallsPerScore to be a whole number from 1 to 20, got "4"\.$/)
  })
})

it('a prompt step of createScorer is validated, including its judge and model', () => {
  const declared: unknown = prebuilt.createScorer({ id: 'mine', description: 'x', judge: { model } })
  const make = (step: object) => () => (declared as { readonly generateScore: Make }).generateScore(step)
  expect(make(prompt)).not.toThrow()
  expect(make({ ...prompt, outputSchem: {} })).toThrow(
    'createScorer generateScore: expected one of description, outputSchema, createPrompt, judge, got an unknown option',
  )
  expect(make({ ...prompt, judge: { model: 5 } })).toThrow('createScorer mine: expected model to be an AI SDK model')
  expect(make({ ...prompt, judge: { modl: model } })).toThrow('createScorer mine judge: expected one of')
})
