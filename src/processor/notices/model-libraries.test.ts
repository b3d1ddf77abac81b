import { expect, test } from 'vitest'

import { callingLibrary, cureOfLibrary, stackOfCaller } from './model-libraries.ts'

const frame = (path: string) => `    at send (file:///app/${path}:1:2)`

test.each([
  ['openai', ['node_modules/openai/client.mjs']],
  ['openai', ['node_modules/.pnpm/openai@6.49.0/node_modules/openai/client.mjs']],
  ['@langchain/core', ['node_modules/openai/client.mjs', 'node_modules/@langchain/openai/dist/index.js']],
  ['ai', ['node_modules/@ai-sdk/openai/dist/index.js', 'node_modules/ai/dist/index.js']],
  ['@mastra/core', ['node_modules/@ai-sdk/openai/dist/index.js', 'node_modules/@mastra/core/dist/agent.js']],
  ['@openai/agents', ['node_modules/openai/client.mjs', 'node_modules/@openai/agents-core/dist/run.js']],
  [undefined, ['node_modules/openai-lookalike/index.js', 'src/openai/client.js', 'node_modules/undici/index.js']],
])('%s sends a request from %j', (library, paths) => {
  expect(callingLibrary(paths.map(frame).join('\n'), '')).toBe(library)
})

test('finds the package in paths of Windows', () => {
  expect(callingLibrary(String.raw`at send (C:\app\node_modules\@anthropic-ai\sdk\client.js:1:2)`, '')).toBe(
    '@anthropic-ai/sdk',
  )
})

test.each([
  ['OpenAI/JS 6.49.0', 'openai'],
  ['Anthropic/JS 1.12.0', '@anthropic-ai/sdk'],
  ['Agents/JavaScript 0.20.0', '@openai/agents'],
  ['langchainjs-openai/1.0.0 ((node/v24.21.0; linux; x64))', '@langchain/core'],
  ['ai-sdk-agent/tool-loop ai/7.0.173 ai-sdk/provider-utils/4.0.66 runtime/node.js/24', 'ai'],
  ['ai-sdk-openai/4.0.118 node.js/24', undefined],
  ['my-gateway/1.0', undefined],
])('the user agent %s of bundled code means %s', (userAgent, library) => {
  expect(callingLibrary('', userAgent)).toBe(library)
})

test('every library has a cure, and the one that calls the others is meant', () => {
  expect(cureOfLibrary(['openai', '@langchain/core'])).toMatch(/LangChainInstrumentation/)
  expect(cureOfLibrary(['ai', '@mastra/core'])).toMatch(/OtelBridge/)
  expect(cureOfLibrary(['undici'])).toBeUndefined()
})

test("keeps the application's settings of stacks, whatever they are", () => {
  const { stackTraceLimit } = Error
  try {
    Error.stackTraceLimit = 3
    expect(stackOfCaller()).toContain('model-libraries')
    expect(Error.stackTraceLimit).toBe(3)
    Error.prepareStackTrace = () => ({ frames: [] })
    expect(stackOfCaller()).toBe('')
    Error.prepareStackTrace = () => {
      throw new Error('of the application')
    }
    expect(stackOfCaller()).toBe('')
    expect(Error.stackTraceLimit).toBe(3)
  } finally {
    Object.assign(Error, { stackTraceLimit, prepareStackTrace: undefined })
  }
})
