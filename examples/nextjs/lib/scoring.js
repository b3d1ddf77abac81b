import { attachScoring, createToolCallAccuracyScorerCode } from 'spanscore'

/** The first call attaches. Every later call returns the same handle. */
export const getScoring = () =>
  attachScoring({ scorers: [createToolCallAccuracyScorerCode({ expectedTool: 'get_weather' })] })
