import { expect, it } from 'vitest'
import { treeSpan } from '../../../test/fixtures/source-span.ts'
import { buildRuns } from '../../runs/build-runs.ts'

const scope = { name: 'io.quarkus.opentelemetry' }
const failure = {
  name: 'exception',
  timeMs: 1,
  attributes: {
    'exception.type': 'java.lang.IllegalStateException',
    'exception.message': 'boom',
  },
}

it('reads a method of an AI service as one run, with failures that are events alone', () => {
  const chat = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'm',
    'gen_ai.usage.input_tokens': 5,
  }
  const runs = buildRuns([
    treeSpan('a', undefined, { scope, name: 'langchain4j.aiservices.Assistant.chat' }),
    treeSpan('b', 'a', { scope, name: 'completion m', attributes: { ...chat, 'gen_ai.prompt': 'Be brief.\nSum?' } }),
    treeSpan('c', 'a', {
      scope,
      name: 'langchain4j.tools.add',
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'add',
        'gen_ai.tool.call.id': 'k',
        'gen_ai.tool.call.arguments': '{"a":1}',
      },
      events: [failure],
    }),
    treeSpan('d', 'a', {
      scope,
      name: 'completion m',
      attributes: {
        ...chat,
        'gen_ai.prompt': 'Be brief.\nSum?\nnull\nboom',
        'gen_ai.completion': 'I cannot.',
      },
    }),
  ])
  expect(runs).toHaveLength(1)
  const [run] = runs
  expect(run).toMatchObject({
    dialect: 'quarkus-langchain4j',
    agent: { name: 'Assistant' },
    output: 'I cannot.',
    status: 'ok',
    usage: { inputTokens: 10 },
  })
  // The texts of all messages are one, without roles.
  expect([run?.userInput, run?.systemInstructions]).toEqual([undefined, undefined])
  expect(run?.toolCalls.map(({ name, arguments: given, status, error }) => [name, given, status, error])).toEqual([
    ['add', { a: 1 }, 'error', { type: 'java.lang.IllegalStateException', message: 'boom' }],
  ])
})

it('names the settings that record content, and the error of a service that threw', () => {
  const [run] = buildRuns([
    treeSpan('a', undefined, { scope, name: 'langchain4j.aiservices.Assistant.chat', events: [failure] }),
    treeSpan('b', 'a', {
      scope,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'add',
      },
    }),
  ])
  expect(run).toMatchObject({ status: 'error', error: { message: 'boom' } })
  expect(run?.missing).toContainEqual({
    what: 'toolCalls[0].result',
    why: 'not-captured',
    switch: 'quarkus.langchain4j.tracing.include-tool-result=true',
  })
})
