import { createPromptAlignmentScorerLLM } from 'spanscore'

const scorer = createPromptAlignmentScorerLLM({ model: 'openai/gpt-5.1' })

// As it stands in the document:
// 箇条書きのフォーマットを評価する
const result = await scorer.run({
  input: [
    {
      role: 'user',
      content: 'TypeScript の利点を箇条書きで挙げてください',
    },
  ],
  output: {
    role: 'assistant',
    text: 'TypeScript は静的型付け、優れた IDE サポート、そしてコードの信頼性の向上に寄与します。',
  },
});
// 結果: フォーマットの不一致（段落 vs 箇条書き）により適合度スコアが低下

export { result }
