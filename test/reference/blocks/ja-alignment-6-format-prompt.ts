// As it stands in the document:
// 例: 構造化出力
const formatPrompt = '箇条書きで、JavaScript における let と const の違いを説明してください';
// スコアラーは内容の正確性と形式順守の両方を評価します

export { formatPrompt }
