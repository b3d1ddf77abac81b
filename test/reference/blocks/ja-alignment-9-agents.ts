import { createPromptAlignmentScorerLLM } from 'spanscore'
import { agent1, agent2, agent3, testPromptFixtures } from '../fixtures.ts'

const scorer = createPromptAlignmentScorerLLM({ model: 'openai/gpt-5.1' })

// As it stands in the document:
const agents = [agent1, agent2, agent3];
const testPrompts = [...testPromptFixtures]; // テスト用プロンプトの配列

for (const agent of agents) {
  let totalScore = 0;
  for (const prompt of testPrompts) {
    const response = await agent.run(prompt);
    const evaluation = await scorer.run({ input: prompt, output: response });
    totalScore += evaluation.score;
  }
  console.log(`${agent.name} の平均アラインメント: ${totalScore / testPrompts.length}`);
}

export {}
