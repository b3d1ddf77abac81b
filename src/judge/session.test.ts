import { describe, expect, it } from 'vitest'

import { createScriptedJudge } from '../testing/scripted-judge.ts'
import type { JudgeScript } from '../testing/scripted-judge.ts'
import { Judge } from './judge.ts'
import { JudgeSession } from './session.ts'
import type { JudgeSettings } from './settings.ts'

const request = { prompt: { instructions: 'Judge.', user: 'Well?' }, schema: { type: 'object' }, maxOutputTokens: 100 }
const answered = (statusCode: number, responseHeaders: Record<string, string> = {}) => ({
  error: Object.assign(new Error('No.'), { statusCode, responseHeaders }),
})

/** A judge whose clock moves only while it waits. */
function world(script: JudgeScript, settings: JudgeSettings = {}) {
  let nowMs = 0
  const waits: number[] = []
  const model = createScriptedJudge(script)
  const judge = new Judge(model, settings, 'Expected', {
    environment: {},
    now: () => nowMs,
    wait: (ms) => {
      waits.push(ms)
      nowMs += ms
      return Promise.resolve()
    },
    randomHex: (bytes) => '0'.repeat(2 * bytes),
  })
  const session = (timeoutMs = 20_000) =>
    new JudgeSession(judge, 'test', 'run', { signal: new AbortController().signal, timeoutMs })
  return { model, session, waits }
}

describe('a session', () => {
  it('waits between tries, longer each time, or as long as the server asks', async () => {
    const { session, waits } = world([answered(500), answered(502), answered(503, { 'retry-after': '4' }), 'Fine.'])
    expect(await session().call(request)).toMatchObject({ ok: true, value: { text: 'Fine.' } })
    expect(waits).toEqual([500, 1000, 4000])
  })

  it('shares the wait of a 429 with every other score that uses the same model', async () => {
    const { session, waits } = world([answered(429, { 'retry-after-ms': '3000' }), 'One.', 'Two.', 'Three.'])
    const [one, two] = [session(), session()]
    expect(await one.call(request)).toMatchObject({ ok: true })
    expect(await two.call(request)).toMatchObject({ ok: true })
    // Three seconds for the first, then the pace that the 429 made slower.
    expect(waits).toEqual([3000, 250])
  })

  it('does not wait beyond its time limit: a judge that was asked gives failed, one that was not gives skipped', async () => {
    const { session, model } = world([answered(429, { 'retry-after': '60' })])
    expect(await session().call(request)).toMatchObject({ ok: false, score: { status: 'failed', code: 'judge-quota' } })
    expect(await session().call(request)).toMatchObject({
      ok: false,
      score: {
        status: 'skipped',
        reason: 'circuit-open',
        message: expect.stringContaining('wait until 1970-01-01T00:01:00.000Z'),
      },
    })
    expect(model.calls).toHaveLength(1)
  })

  it('makes at most maxCallsPerScore calls of any kind', async () => {
    const { session, model } = world(answered(500), { maxCallsPerScore: 3 })
    const one = session()
    expect(await one.call(request)).toMatchObject({
      score: { code: 'judge-http', message: expect.stringContaining('Given up after 3 calls') },
    })
    expect(await one.call(request)).toMatchObject({ score: { code: 'judge-invalid-reply' } })
    expect(model.calls).toHaveLength(3)
    expect([one.callsLeft, one.report()?.calls]).toEqual([0, 3])
  })

  it('has no report before its first call, and no cost if a price is unknown', async () => {
    const one = world('Fine.').session()
    expect(one.report()).toBeUndefined()
    await one.call(request)
    expect(one.report()).toEqual({ model: 'scripted-judge', calls: 1, usage: { inputTokens: 3, outputTokens: 2 } })
  })

  it('says what is missing if its model cannot be loaded', async () => {
    const judge = new Judge({ id: 'nobody-made-this/m', apiKey: 'x' })
    const session = new JudgeSession(judge, 'test', 'run', { signal: new AbortController().signal, timeoutMs: 1000 })
    expect(await session.call(request)).toMatchObject({
      score: {
        reason: 'judge-unavailable',
        message: expect.stringContaining('names the provider "nobody-made-this", which is unknown'),
      },
    })
  })

  it.each([
    [{ maxCallsPerScore: 0 }, 'judge.maxCallsPerScore to be a whole number from 1 to 20'],
    [{ maxCallsPerScore: 2.5 }, 'judge.maxCallsPerScore to be a whole number from 1 to 20'],
    [{ maxOutputTokens: 1 }, 'judge.maxOutputTokens to be a whole number from 64'],
    [{ temperature: 3 }, 'judge.temperature to be a number from 0 to 2'],
    [{ maxPromptTokens: Number.NaN }, 'judge.maxPromptTokens to be a whole number from 2048'],
  ])('refuses the settings %j', (settings, message) => {
    expect(() => world('x', settings)).toThrow(`Expected ${message}`)
  })
})
