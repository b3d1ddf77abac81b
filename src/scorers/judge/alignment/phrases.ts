import { unicodePattern } from '../../../model/unicode-pattern.ts'

/** The phrases of prompt alignment's reason, besides the judge's own words. */
export interface AlignmentPhrases {
  readonly score: (score: number, scale: number) => string
  readonly bands: Readonly<Record<AlignmentBand, string>>
  readonly noSystem: string
  readonly missing: string
  readonly emptyResponse: string
  /** The end of a sentence, with the space before the next one. */
  readonly stop: string
}

/** The level of alignment, by score ÷ scale. */
export type AlignmentBand = 'excellent' | 'very good' | 'good' | 'moderate' | 'poor' | 'very poor'

const english: AlignmentPhrases = {
  score: (score, scale) => `${score} of ${scale}`,
  bands: {
    excellent: 'excellent alignment',
    'very good': 'very good alignment',
    good: 'good alignment',
    moderate: 'moderate alignment',
    poor: 'poor alignment',
    'very poor': 'very poor alignment',
  },
  noSystem: "There are no system instructions, so only the user's prompt counts",
  missing: 'Missing',
  emptyResponse:
    "The response is empty: the user's intent is not addressed, no requirement is fulfilled, and nothing of what was asked for is there",
  stop: '. ',
}

const japanese: AlignmentPhrases = {
  score: (score, scale) => `${scale} 点満点中 ${score} 点`,
  bands: {
    excellent: '極めて高い整合性',
    'very good': '非常に高い整合性',
    good: '良好な整合性',
    moderate: '中程度の整合性',
    poor: '不十分な整合性',
    'very poor': '極めて低い整合性',
  },
  noSystem: 'システム指示がないため、ユーザーのプロンプトのみで評価しました',
  missing: '不足',
  emptyResponse:
    '応答が空です。ユーザーの意図に応えておらず、要件は一つも満たされず、求められた内容が何も含まれていません',
  stop: '。',
}

const chinese: AlignmentPhrases = {
  score: (score, scale) => `满分 ${scale} 分，得 ${score} 分`,
  bands: {
    excellent: '一致性极高',
    'very good': '一致性很高',
    good: '一致性良好',
    moderate: '一致性中等',
    poor: '一致性不足',
    'very poor': '一致性极低',
  },
  noSystem: '没有系统指令，因此只按用户提示评估',
  missing: '缺失',
  emptyResponse: '响应为空：没有回应用户意图，没有满足任何要求，也没有提供所要求的内容',
  stop: '。',
}

/** The phrases in the language of a text, by its script: Japanese for kana, Chinese for Han without kana, otherwise English. */
export function phrasesFor(text: string): AlignmentPhrases {
  if (kana().test(text)) return japanese
  return han().test(text) ? chinese : english
}

const kana = unicodePattern('[\\p{Script=Hiragana}\\p{Script=Katakana}]', 'u')
const han = unicodePattern('\\p{Script=Han}', 'u')
