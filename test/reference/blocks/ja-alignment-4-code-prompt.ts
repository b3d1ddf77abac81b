// As it stands in the document:
// 例: API エンドポイントの作成
const codePrompt = '認証とレート制限を備えた REST API エンドポイントを作成する';
// スコアラーが評価する項目: 意図（API の作成）、要件（認証 + レート制限）、
// 完全性（実装が一通り揃っているか）、形式（コード構造）

export { codePrompt }
