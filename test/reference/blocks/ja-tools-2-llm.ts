import { agentRun } from '../fixtures.ts'

// As it stands in the document:
import { createToolCallAccuracyScorerLLM } from 'spanscore/scorers/llm';
import { openai } from '@ai-sdk/openai';

const llmScorer = createToolCallAccuracyScorerLLM({
  model: openai('gpt-4o-mini'),
  availableTools: [
    {
      name: 'weather-tool',
      description: '任意の場所の現在の天気を取得する',
    },
    {
      name: 'search-tool',
      description: 'ウェブ上の情報を検索する',
    },
    {
      name: 'calendar-tool',
      description: 'カレンダーの予定やスケジュールを確認する',
    },
  ],
});

const result = await llmScorer.run(agentRun);
console.log(result.score); // 0.0～1.0
console.log(result.reason); // スコアの説明

export { result }
