// As it stands in the document:
import { openai } from '@ai-sdk/openai';
import { SummarizationMetric } from 'spanscore/llm';

// 評価用のモデルを設定
const model = openai('gpt-4o-mini');

const metric = new SummarizationMetric(model);

const result = await metric.measure(
  "電気自動車会社Teslaは、2003年にMartin EberhardとMarc Tarpenningによって設立されました。Elon Muskは2004年に最大の投資家として参加し、2008年にCEOに就任しました。同社初の車であるRoadsterは2008年に発売されました。",
  'Teslaは2003年にElon Muskによって設立され、2008年のRoadsterを皮切りに電気自動車業界に革命をもたらしました。',
);

// 出力例:
// {
//   score: 0.5,
//   info: {
//     reason: "スコアが0.5なのは、カバレッジは良好(0.75)で設立年、最初の車種、発売日に言及していますが、
//           会社の設立をMartin EberhardとMarc TarpenningではなくElon Muskに誤って帰属させているため、
//           アライメントスコアが低く(0.5)なっています。
//           最終スコアは、優れた要約には事実の正確性とカバレッジの両方が必要であることを保証するため、
//           これら2つのスコアの最小値を取ります。"
//     alignmentScore: 0.5,
//     coverageScore: 0.75,
//   }
// }

export { result }
