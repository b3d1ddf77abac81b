import { describe, expect, it } from 'vitest'

import { toCallError } from './call-error.ts'

const facts = { model: 'openai/m', keyHint: 'OPENAI_API_KEY', nowMs: Date.parse('2026-01-01T00:00:00Z') }
const answered = (statusCode: number, more: object = {}) =>
  toCallError(Object.assign(new Error('It said no.'), { statusCode, ...more }), facts)

describe('toCallError', () => {
  it.each([
    [{ 'retry-after-ms': '20' }, 20],
    [{ 'retry-after-ms': '20', 'retry-after': '9' }, 20],
    [{ 'retry-after': '3' }, 3000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:05 GMT' }, 5000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{ 'retry-after': '31536000' }, 300_000],
    [{ 'retry-after': 'Infinity' }, 300_000],
    [{ 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }, 300_000],
    [{ 'retry-after-ms': '1e300' }, 300_000],
    [{ 'retry-after-ms': '-5' }, undefined],
    [{}, undefined],
  ])('reads the wait of %j as %s ms', (responseHeaders, waitMs) => {
    expect(answered(429, { responseHeaders }).waitMs).toBe(waitMs)
  })

  it('finds the error inside a retry error', () => {
    const lastError = Object.assign(new Error('Busy.'), { statusCode: 503 })
    expect(toCallError(Object.assign(new Error('Failed after 3 attempts'), { lastError }), facts)).toMatchObject({
      code: 'judge-http',
      retryable: true,
      message: { text: expect.stringContaining('503 (Busy.)') },
    })
  })

  it('names what to check for a refused key', () => {
    expect(answered(401)).toMatchObject({
      code: 'judge-auth',
      message: { text: expect.stringMatching(/Check OPENAI_API_KEY\.$/) },
    })
  })

  it('says which setting to lower for a model with shorter replies', () => {
    const responseBody = '{"error":{"message":"max_tokens is too large: 8192. This model supports at most 4096."}}'
    expect(answered(400, { responseBody }).message.text).toMatch(/Lower judge\.maxOutputTokens\.$/)
    expect(answered(400, { responseBody: '{"error":{"message":"Unsupported value: temperature"}}' })).toMatchObject({
      drop: 'temperature',
    })
  })

  it('keeps colours, line ends and keys out of the message, and keeps it short', () => {
    const { message } = toCallError(
      new Error(`\u001b[31mno\u001b[39m\nkey sk-proj-abcdef123456, Bearer abc.def ${'x'.repeat(900)}`),
      facts,
    )
    expect(message.text).toMatch(/\(no key sk-…, Bearer … x+…\)/)
    expect(message.text.length).toBeLessThan(500)
  })

  it.each([
    [
      Object.assign(new Error('You said: SECRET'), {
        name: 'AI_APICallError',
        statusCode: 400,
        data: { error: { message: 'SECRET', code: 'context_length_exceeded' } },
      }),
      '400 (AI_APICallError, context_length_exceeded)',
    ],
    [
      Object.assign(new TypeError('SECRET'), { cause: Object.assign(new Error('SECRET'), { code: 'ECONNREFUSED' }) }),
      '(TypeError, ECONNREFUSED)',
    ],
    [Object.assign(new Error('SECRET'), { name: 'SECRET said so' }), '(an error without a name)'],
    [{ statusCode: 500, message: 'SECRET', data: { error: { code: 'SECRET', type: 'SECRET' } } }, '500 (an error'],
    ['SECRET', '(an error without a name)'],
  ])('says the class, the status and the code of an error where its words are left out (%#)', (error, named) => {
    const { text, withoutContent } = toCallError(error, facts).message
    expect(text).toContain('SECRET')
    expect(withoutContent).toContain(named)
    expect(withoutContent).not.toContain('SECRET')
  })

  it.each([
    [
      Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error('x'), { code: 'ECONNRESET' }) }),
      true,
    ],
    [new TypeError('terminated'), true],
    [new TypeError('undefined is not a function'), false],
    ['a string', false],
    [undefined, false],
  ])('knows which errors without a status are the network (%s)', (error, retryable) => {
    expect(toCallError(error, facts)).toMatchObject({ code: 'judge-http', retryable })
  })
})
