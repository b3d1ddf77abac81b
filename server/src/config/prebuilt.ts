import { prebuiltScorers } from 'spanscore/engine'

/** The names of the prebuilt scorers in a YAML or JSON configuration. */
export const PREBUILT_NAMES: readonly string[] = Object.keys(prebuiltScorers).toSorted()

/** Code scorers that only need a recorded run. The service uses them if nothing is configured. */
export const DEFAULT_SCORERS: readonly string[] = [
  'answer_present',
  'hallucinated_tool',
  'loop',
  'tool_arguments',
  'tool_errors',
]
