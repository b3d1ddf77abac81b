import { logs, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { TracerProvider } from '@opentelemetry/api'
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs'
import { afterEach, expect, test } from 'vitest'

import type { AgentRun } from '../../src/model/agent-run.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { codeScorer, createPipeline, open } from './harness.ts'

afterEach(() => logs.disable())

async function createScoring() {
  const runs: AgentRun[] = []
  const scorer = codeScorer('answered', {
    assess: (run) => {
      runs.push(run)
      return { status: 'scored', value: run.output === undefined ? 0 : 1 }
    },
  })
  const scoring = new ScoringSpanProcessor({ scorers: [scorer] })
  const { provider: tracers } = await createPipeline({ logs: false, processors: (batch) => [scoring, batch] })
  return { runs, scoring, tracers }
}

/** An agent whose model answers in a log record of the given provider, which is registered after the agent has started. */
function play(tracers: TracerProvider, provider: LoggerProvider, register: boolean): void {
  const scope = tracers.getTracer('@opentelemetry/instrumentation-openai')
  const agent = open(tracers.getTracer('agents'), 'invoke_agent a', {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'a',
  })
  if (register) logs.setGlobalLoggerProvider(provider)
  const chat = open(scope, 'chat gpt-test', { 'gen_ai.operation.name': 'chat', 'gen_ai.system': 'openai' }, agent)
  provider.getLogger('openai').emit({
    eventName: 'gen_ai.choice',
    context: trace.setSpan(ROOT_CONTEXT, chat),
    attributes: { 'gen_ai.system': 'openai' },
    body: { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'It is sunny.' } },
  })
  chat.end()
  agent.end()
}

test("messages in log records of the application's logger provider are read whenever it appears, and are exported as before", async () => {
  const { runs, tracers } = await createScoring()
  const exporter = new InMemoryLogRecordExporter()
  play(tracers, new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] }), true)
  expect(runs.map(({ output }) => output)).toEqual(['It is sunny.'])
  expect(exporter.getFinishedLogRecords().map(({ eventName }) => eventName)).toContain('gen_ai.choice')
})

test('a logger provider without processors is enough', async () => {
  const { runs, tracers } = await createScoring()
  play(tracers, new LoggerProvider(), true)
  expect(runs.map(({ output }) => output)).toEqual(['It is sunny.'])
})

test('a processor that the application added is not added again, and after the end of scoring nothing is read', async () => {
  const { runs, scoring, tracers } = await createScoring()
  const processors = [scoring.logRecordProcessor]
  const provider = new LoggerProvider({ processors })
  play(tracers, provider, true)
  expect(runs.map(({ output }) => output)).toEqual(['It is sunny.'])
  expect(processors).toHaveLength(1)
  const other = await createScoring()
  play(other.tracers, provider, false)
  expect(processors).toHaveLength(2)
  await other.scoring.shutdown()
  expect(processors).toEqual([scoring.logRecordProcessor])
})

test('without a logger provider, the cure names it and not the setting of content', async () => {
  const { runs, tracers } = await createScoring()
  play(tracers, new LoggerProvider(), false)
  const [run] = runs
  expect(run?.output).toBeUndefined()
  expect(run?.missing.map((each) => each.switch)).toContainEqual(expect.stringContaining('need a logger provider'))
  expect(JSON.stringify(run?.missing)).not.toContain('CAPTURE_MESSAGE_CONTENT')
})
