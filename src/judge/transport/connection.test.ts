import { describe, expect, it } from 'vitest'

import { createScriptedOpenAIServer } from '../../testing/scripted-openai-server.ts'
import { createScriptedJudge } from '../../testing/scripted-judge.ts'
import { connect } from './connection.ts'
import type { Environment } from './connection.ts'
import { generate } from './generate.ts'
import { toModelReference } from './judge-model.ts'
import type { JudgeModel } from './judge-model.ts'

const connection = (model: JudgeModel, environment: Environment = {}) => connect(toModelReference(model), environment)

const asked = async (model: (url: string) => JudgeModel, environment: (url: string) => Environment) => {
  const server = await createScriptedOpenAIServer(['Hello.'])
  const opened = await connection(model(server.url), environment(server.url)).open()
  const signal = AbortSignal.timeout(5000)
  await generate(opened, { instructions: 'Be brief.', user: 'Hi', maxOutputTokens: 100, signal })
  await server.close()
  const [request] = server.requests
  return [request?.api, request?.model, request?.headers.authorization]
}

const bothKeys = (url: string): Environment => ({
  OPENAI_API_KEY: 'application',
  OPENAI_BASE_URL: 'http://127.0.0.1:1/v1',
  SPANSCORE_OPENAI_API_KEY: 'judge',
  SPANSCORE_OPENAI_BASE_URL: url,
})

const router = (url: string) => ({ id: 'router/meta/llama', url, headers: { 'x-team': 'a' } })

const endpointKey = (apiKey: string, url: string) => connection({ id: 'a/b', url, apiKey }).endpointKey

describe('a model', () => {
  it.each([
    'gpt-4o',
    '/gpt-4o',
    'openai/',
    '',
    undefined,
    null,
    7,
    {},
    { doGenerate: () => {} },
    { id: 'x', url: 'no url' },
    { id: 'a/b', apiKey: 5 },
    { id: 'a/b', headers: { 'x-team': 5 } },
  ])('is refused as %j', (model) => {
    expect(() => toModelReference(model)).toThrow(/^Expected model/)
  })

  it('is refused with an unknown setting: a misspelt URL would send content elsewhere', () => {
    expect(() => toModelReference({ id: 'a/b', baseURL: 'http://127.0.0.1:1/v1' })).toThrow(
      'Expected model to hold id, url, apiKey, apiKeyFile, apiKeyHeader, headers, got an unknown option: "baseURL".',
    )
  })

  it('is refused without its key being revealed', () => {
    expect(() => toModelReference({ model: 'a/b', apiKey: 'secret' })).toThrow(/got an object with model, apiKey\.$/)
  })

  it('is refused with an unknown specification', () => {
    const old = { ...createScriptedJudge({}), specificationVersion: 'v1' }
    expect(() => toModelReference(old)).toThrow(/got specification "v1"/)
  })

  it('is named by provider and model', () => {
    expect(toModelReference(createScriptedJudge({}, 'm')).name).toBe('spanscore/m')
    expect(toModelReference({ ...createScriptedJudge({}, 'm'), provider: 'openai.responses' }).name).toBe('openai/m')
    expect(toModelReference({ id: 'local', url: 'http://127.0.0.1:1/v1' }).name).toBe('openai-compatible/local')
  })
})

describe('a connection', () => {
  it.each<[JudgeModel, Environment, RegExp | undefined]>([
    ['openai/gpt-5-mini', {}, /no API key: set SPANSCORE_OPENAI_API_KEY or OPENAI_API_KEY, or AI_GATEWAY_API_KEY/],
    ['openai/gpt-5-mini', { OPENAI_API_KEY: '' }, /no API key/],
    ['openai/gpt-5-mini', { OPENAI_API_KEY: 'x' }, undefined],
    ['openai/gpt-5-mini', { SPANSCORE_OPENAI_API_KEY: 'x' }, undefined],
    ['openai/gpt-5-mini', { AI_GATEWAY_API_KEY: 'x' }, undefined],
    [{ id: 'openai/gpt-5-mini', apiKey: 'x' }, {}, undefined],
    [
      'nobody-made-this/m',
      { NOBODY_MADE_THIS_API_KEY: 'x' },
      /names the provider "nobody-made-this", which is unknown\. Known providers: .*openai/,
    ],
    ['opnai/gpt-5-mini', {}, /names the provider "opnai".*Did you mean openai\/gpt-5-mini\?/],
    ['mistral/small', {}, /needs the package @ai-sdk\/mistral, which is not installed: npm install @ai-sdk\/mistral/],
    ['nobody-made-this/m', { AI_GATEWAY_API_KEY: 'x' }, undefined],
    [{ id: 'local/llama', url: 'http://127.0.0.1:1/v1' }, {}, undefined],
    [createScriptedJudge({}), {}, undefined],
  ])('to %j says what is missing', (model, environment, missing) => {
    const why = connection(model, environment).unavailable()
    expect(why === undefined ? undefined : missing?.test(why)).toBe(missing === undefined ? undefined : true)
  })

  it('prefers its own key and server to those of the application', async () => {
    expect(await asked(() => 'openai/gpt-5-mini', bothKeys)).toEqual(['chat', 'gpt-5-mini', 'Bearer judge'])
  })

  it('uses the chat completions API of a URL, and sends the model id after the first slash', async () => {
    expect(await asked(router, () => ({ ROUTER_API_KEY: 'key', OPENAI_API_KEY: 'not this one' }))).toEqual([
      'chat',
      'meta/llama',
      'Bearer key',
    ])
    expect(
      await asked(
        (url) => ({ id: 'llama', url }),
        () => ({ OPENAI_API_KEY: 'not this one' }),
      ),
    ).toEqual(['chat', 'llama', 'Bearer none'])
  })

  it('says where its key comes from', () => {
    expect(connection('openai/gpt-5-mini', { SPANSCORE_OPENAI_API_KEY: 'x' }).keyHint).toBe('SPANSCORE_OPENAI_API_KEY')
    expect(connection({ id: 'router/m', url: 'http://127.0.0.1:1' }).keyHint).toBe('model.apiKey, or ROUTER_API_KEY')
    expect(connection({ id: 'router/m', url: 'http://127.0.0.1:1', apiKey: 'x' }).keyHint).toBe('model.apiKey')
  })

  it('shares an endpoint only with the same key and server', () => {
    expect(endpointKey('k', 'http://127.0.0.1:1')).toBe(endpointKey('k', 'http://127.0.0.1:1'))
    expect(endpointKey('k', 'http://127.0.0.1:1')).not.toBe(endpointKey('other', 'http://127.0.0.1:1'))
    expect(JSON.stringify(endpointKey('secret', 'http://127.0.0.1:1'))).not.toContain('secret')
  })
})
