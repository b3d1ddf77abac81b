import { createPromptAlignmentScorerLLM } from 'spanscore'
import { createTestRun } from 'spanscore/testing'
import { response } from '../fixtures.ts'

const scorer = createPromptAlignmentScorerLLM({ model: 'openai/gpt-5.1' })

// As it stands in the document:
const prompts = [
  '階乗を計算する関数を書いてください',
  '負の入力を考慮したエラーハンドリング付きの、階乗を計算するPython関数を作成してください',
  '入力検証・エラーハンドリング・docstringを備えたPythonの階乗計算プログラムを実装してください',
];

// アラインメントスコアを比較して最適なプロンプトを見つける
for (const prompt of prompts) {
  const result = await scorer.run(createTestRun(prompt, response));
  console.log(`プロンプトのアラインメント: ${result.score}`);
}

export {}
