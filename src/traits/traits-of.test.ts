import { describe, expect, it } from 'vitest'
import { libraryNames, loadLibrary, readScenario } from '../../test/corpus/load.ts'
import { call, runOf } from '../../test/fixtures/code-runs.ts'
import type { AgentRun } from '../model/agent-run.ts'
import { buildRuns } from '../runs/build-runs.ts'
import { traitText } from './trait.ts'
import { MAX_TRAITS, traitsOf } from './traits-of.ts'

const texts = (run: AgentRun, context = {}): string[] => traitsOf(run, context).map(traitText)

const promptOf = (run: AgentRun) => texts(run).find((text) => text.startsWith('prompt = '))

const many = (prefix: string) =>
  Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`${prefix}.${index}x`, `v${index}`]))

describe('the traits of a run', () => {
  it('say which scorer found an attack, which explains everything but the failures of that scorer', () => {
    const attack = { key: 'injection', value: 'attacked' }
    expect(traitsOf(runOf(), { attacked: ['injection'], scorer: 'resolution' })).toContainEqual(attack)
    expect(traitsOf(runOf(), { attacked: ['injection'], scorer: 'injection' })).toContainEqual({
      ...attack,
      isSymptom: true,
    })
  })

  it('name what the agent is made of, what it was asked, what it did, and how that ended', () => {
    const run = runOf({
      resource: { 'service.version': '1.1.0', 'cloud.region': 'eu-west-1' },
      attributes: { 'app.plan': 'free', 'app.beta': true },
      surrounding: { 'app.tenant': 'shop' },
      systemInstructions: 'Help customers.',
      availableTools: [{ name: 'lookup' }],
      models: ['gpt-5-mini'],
      toolCalls: [
        call('lookup', {}, { status: 'error', error: { type: 'HttpError', message: 'order 4711: 502 Bad Gateway' } }),
        call('search'),
      ],
      userInput: 'Wo ist meine Bestellung?',
      usage: { inputTokens: 5000 },
      startTimeMs: 0,
      endTimeMs: 5000,
    })
    expect(texts(run, { turn: 3, failing: ['tool_errors'] })).toEqual(
      expect.arrayContaining([
        'service.version = 1.1.0',
        'cloud.region = eu-west-1',
        'app.plan = free',
        'app.beta = true',
        'app.tenant = shop',
        'model = gpt-5-mini',
        'tool called = search',
        'failed tool = lookup',
        'tool error = lookup: HttpError: order #: # Bad Gateway',
        'path = lookup > search',
        'input tokens = 4096 to 8191',
        'seconds = 4 to 7',
        'turn = 2 to 3',
        'tool_errors = fail',
        'question script = Latin',
        'question word = bestellung',
      ]),
    )
    expect(traitsOf(run, { failing: ['tool_errors'] }).filter(({ isSymptom }) => isSymptom)).toHaveLength(1)
  })

  it('are the same for the same prompt and tools, and different for others', () => {
    expect(promptOf(runOf({ systemInstructions: 'A' }))).toBe(promptOf(runOf({ systemInstructions: 'A' })))
    expect(promptOf(runOf({ systemInstructions: 'A' }))).not.toBe(promptOf(runOf({ systemInstructions: 'B' })))
    expect(promptOf(runOf({ systemInstructions: undefined }))).toBeUndefined()
  })

  it('leave out ids, amounts and long texts', () => {
    const attributes = {
      'enduser.id': 'anna',
      'app.orderId': '4711',
      'app.session': '6f9619ff-8b86-d011-b42d-00c04fc964ff',
      'app.mail': 'anna@example.com',
      'gen_ai.usage.input_tokens': 17,
      'app.duration': 4,
      'app.note': 'x'.repeat(300),
      'app.ratio': 0.37,
      'app.list': ['a'],
    }
    expect(texts(runOf({ attributes, resource: {} })).filter((text) => /^(app|enduser|gen_ai)/.test(text))).toEqual([])
  })

  it('stay within their bounds, whatever a run holds', () => {
    const traits = traitsOf(
      runOf({
        resource: many('a'),
        attributes: many('b'),
        toolCalls: Array.from({ length: 100 }, (_, index) => call(`tool ${index}\u202E${'x'.repeat(500)}`)),
        userInput: Array.from({ length: 300 }, (_, index) => `word${String.fromCodePoint(97 + (index % 26))}`).join(
          ' ',
        ),
      }),
    )
    expect(traits.length).toBeLessThanOrEqual(MAX_TRAITS)
    for (const { value } of traits) {
      expect(value.length).toBeLessThanOrEqual(80)
      expect(value).not.toMatch(/[\u202E\n]/)
    }
  })

  it('of recorded runs of many libraries are short, distinct and without ids of its trace', () => {
    let count = 0
    for (const name of libraryNames().filter((_, index) => index % 4 === 0)) {
      const [scenario] = loadLibrary(name)
      if (scenario === undefined) continue
      const { spans, logs } = readScenario(scenario)
      for (const run of buildRuns(spans, { logs })) {
        const all = texts(run)
        expect(new Set(all).size).toBe(all.length)
        expect(all.filter((text) => text.includes(run.traceId) || text.includes(run.spanId))).toEqual([])
        expect(all).toContain(`status = ${run.status}`)
        count += 1
      }
    }
    expect(count).toBeGreaterThan(20)
  })
})
