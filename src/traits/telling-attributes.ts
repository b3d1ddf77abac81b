/** Attributes that say what a run cost or contained, or that repeat facts of the run. */
const TOLD_BY_FACTS =
  /^(?:spanscore\.|telemetry\.|process\.|os\.|gen_ai\.(?:usage|response|input|output|tool|agent|conversation|system_instructions|request\.model|operation|evaluation)\b)/
/** Amounts and times differ from run to run. */
const AMOUNT =
  /(?:^|[._])(?:usage|tokens?|token_counts?|duration|latency|cost|time|timestamp|length|bytes|count)(?:[._]|$)|(?:Ms|Tokens|Time)$/
const ID_KEY = /(?:^|[._-])(?:ids?|uuid|guid|uid|key|hash|url|uri|email|ip)$|[a-z](?:Ids?|ID|Uuid|Url|Email)$/
const ID_VALUE = /^[0-9a-f]{8}-[0-9a-f]{4}-|^[0-9a-f]{16,}$|^\d{7,}$|@[\w-]+\.\w/i

/** Longer texts are content, not names. */
const MAX_CHARACTERS = 200

/** Whether the value of an attribute is a trait: a short scalar that is no id, no amount, and no fact that a run has by itself. */
export function isTelling(key: string, value: unknown): value is string | number | boolean {
  if (TOLD_BY_FACTS.test(key) || ID_KEY.test(key) || AMOUNT.test(key)) return false
  if (typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 1e6
  return typeof value === 'string' && value !== '' && value.length <= MAX_CHARACTERS && !ID_VALUE.test(value)
}
