// As it stands in the document:
// 例: 複数の要件があるタスク
const taskPrompt = '初期化、検証、エラー処理、ドキュメンテーションを備えた Python クラスを書いてください';
// スコアラーは各要件を個別に追跡し、詳細な内訳を提供します

export { taskPrompt }
