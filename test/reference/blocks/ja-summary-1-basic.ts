// As it stands in the document:
import { openai } from '@ai-sdk/openai';
import { SummarizationMetric } from 'spanscore/llm';

// 評価用にモデルを設定する
const model = openai('gpt-4o-mini');

const metric = new SummarizationMetric(model);

const result = await metric.measure(
  'その会社は1995年にJohn Smithによって設立された。従業員は10人で始まり、2020年までに500人に増えた。同社の本社はシアトルにある。',
  '1995年にJohn Smithによって設立され、同社は従業員数が10人から2020年までに500人へと増加した。',
);

console.log(result.score); // スコア（0〜1）
console.log(result.info); // 要約に関する詳細な評価指標を含むオブジェクト

export { result }
