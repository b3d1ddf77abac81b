import type { ScoringOptions } from './scoring-options.ts'

/**
 * Types the options of a configuration file.
 *
 * @example
 * ```ts
 * // spanscore.config.ts
 * import { defineConfig } from 'spanscore'
 * import { createToolCallAccuracyScorerCode } from 'spanscore/scorers/prebuilt'
 *
 * export default defineConfig({ scorers: [createToolCallAccuracyScorerCode({ expectedTool: 'weather' })] })
 * ```
 */
export function defineConfig(options: ScoringOptions): ScoringOptions {
  return options
}
