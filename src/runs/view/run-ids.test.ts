import { expect, it } from 'vitest'
import { sourceSpan } from '../../../test/fixtures/source-span.ts'
import type { SourceSpan } from '../../spans/source-span.ts'
import { buildRuns } from '../build-runs.ts'

type Attributes = SourceSpan['attributes']

const AGENT = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'w' }
const CHAT = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' }

/** The run of an agent with one model call, below a request and a step of the application. */
function runOf({ request = {}, step = {}, agent = {}, model = {} }: Record<string, Attributes>) {
  const spans = [
    sourceSpan({ spanId: 'request', name: 'POST /chat', scope: { name: 'http' }, attributes: request }),
    sourceSpan({ spanId: 'step', parentSpanId: 'request', name: 'answer', scope: { name: 'app' }, attributes: step }),
    sourceSpan({ spanId: 'agent', parentSpanId: 'step', attributes: { ...AGENT, ...agent } }),
    sourceSpan({ spanId: 'model', parentSpanId: 'agent', attributes: { ...CHAT, ...model } }),
  ]
  const [run, ...others] = buildRuns(spans.toReversed())
  expect(others).toEqual([])
  return run
}

it.each<[string, Record<string, Attributes>, string | undefined]>([
  ['the request', { request: { 'session.id': 's' } }, 's'],
  ['the nearest span around the agent', { request: { 'session.id': 's' }, step: { 'session.id': 't' } }, 't'],
  ['its model call before a span around it', { request: { 'session.id': 's' }, model: { 'session.id': 'm' } }, 'm'],
  [
    'the name of the conventions around the agent before the session of the browser',
    { request: { 'gen_ai.conversation.id': 'c' }, agent: { 'session.id': 's' } },
    'c',
  ],
  ['a turn of Pipecat', { step: { 'conversation.id': 'p' } }, 'p'],
  [
    'a span around the agent where the nearest one has none',
    { request: { 'session.id': 's' }, agent: { 'session.id': 'null' } },
    's',
  ],
])('takes the conversation from %s', (_, spans, expected) => {
  expect(runOf(spans)?.conversationId).toBe(expected)
})

it.each(['', ' ', 'null', 'None', 'undefined', 'nil', 'NaN', '0', '00000000-0000-0000-0000-000000000000'])(
  'takes %j for no id',
  (value) => {
    const run = runOf({ agent: { 'gen_ai.conversation.id': value, 'user.id': value } })
    expect(run).toMatchObject({ conversationId: undefined, userId: undefined })
  },
)

it('takes the user from a span around the agent', () => {
  expect(runOf({ request: { 'enduser.id': 'u' } })?.userId).toBe('u')
})

it.each<[string, Attributes, string]>([
  ['Langfuse', { 'langfuse.observation.type': 'agent', 'langfuse.observation.metadata.thread_id': 't' }, 't'],
  ['Mastra', { 'mastra.span.type': 'agent_run', 'mastra.metadata.sessionId': 't' }, 't'],
  ['VoltAgent', { 'entity.type': 'agent', 'voltagent.operation_id': 'o', 'voltagent.conversation_id': 't' }, 't'],
  ['MLflow', { 'mlflow.spanType': '"AGENT"', 'mlflow.trace.session': '"t"' }, 't'],
])('reads the name that %s gives it', (_, attributes, expected) => {
  const scope = { name: 'app' }
  const spans = [
    sourceSpan({ spanId: 'a', name: 'agent', scope, attributes }),
    sourceSpan({ spanId: 'm', parentSpanId: 'a', attributes: CHAT }),
  ]
  expect(buildRuns(spans)[0]?.conversationId).toBe(expected)
})
