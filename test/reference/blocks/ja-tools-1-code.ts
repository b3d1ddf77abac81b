// As it stands in the document:
import { createToolCallAccuracyScorerCode } from 'spanscore/scorers/code';

// 単一ツールの検証
const scorer = createToolCallAccuracyScorerCode({
  expectedTool: 'weather-tool',
});

// 厳格な単一ツール（他のツールは許可されない）
const strictScorer = createToolCallAccuracyScorerCode({
  expectedTool: 'calculator-tool',
  strictMode: true,
});

// ツールの順序を検証
const orderScorer = createToolCallAccuracyScorerCode({
  expectedTool: 'search-tool', // 順序が指定されている場合は無視される
  expectedToolOrder: ['search-tool', 'weather-tool'],
  strictMode: true, // 完全一致が必要
});

export { orderScorer, scorer, strictScorer }
