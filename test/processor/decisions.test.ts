import { LegacyOpenTelemetry, OpenTelemetry } from '@ai-sdk/otel'
import { experimental_decide as decide, generateText } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { expect, test } from 'vitest'

import type { AgentRun } from '../../src/model/agent-run.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createAnswerPresentScorer } from '../../src/scorers/code/answer-present.ts'
import { createPipeline } from './harness.ts'

const model = new MockLanguageModelV4({
  doGenerate: {
    content: [{ type: 'text', text: 'Cold.' }],
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {
      inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 2, text: 2, reasoning: 0 },
    },
    warnings: [],
  },
})

const decisionModel: Exclude<Parameters<typeof decide>[0]['model'], string> = {
  specificationVersion: 'v4',
  provider: 'typesafe',
  modelId: 'decider',
  supportedQuestionTypes: ['boolean'],
  doDecide: () =>
    Promise.resolve({
      answers: { safe: { type: 'boolean', probability: 0.9 } },
      usage: { inputTokens: 40, outputTokens: 3 },
      warnings: [],
    }),
}

test.each([
  ['the conventions', () => new OpenTelemetry({ experimental_decision: true })],
  ['the older form', () => new LegacyOpenTelemetry()],
])(
  "a decision of the AI SDK, in %s, is no step of the agent, and its tokens are the run's",
  async (_form, createTelemetry) => {
    const runs: AgentRun[] = []
    const scoring = new ScoringSpanProcessor({
      scorers: [createAnswerPresentScorer()],
      onScore: (_, run) => void runs.push(run),
    })
    const { tracer, flush } = await createPipeline({ processors: (batch) => [scoring, batch] })
    const agent = { attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'support' } }
    const integrations = [createTelemetry()]
    await tracer.startActiveSpan('invoke_agent support', agent, async (span) => {
      await generateText({ model, prompt: 'Weather in Oslo?', telemetry: { integrations } })
      const questions = { safe: { type: 'boolean', instructions: 'Is it safe to say?' } } as const
      await decide({ model: decisionModel, state: 'Cold.', questions, telemetry: { integrations } })
      span.end()
    })
    await flush()

    expect(runs).toMatchObject([
      {
        output: 'Cold.',
        steps: [{ model: 'mock-model-id' }],
        sideCalls: [{ kind: 'decision', model: 'decider', usage: { inputTokens: 40, outputTokens: 3 } }],
        usage: { inputTokens: 50, outputTokens: 5 },
      },
    ])
  },
)
