/** How libraries tell a model in words that a tool failed or did not run. */

/** Of a tool whose span is lost where it throws: the answer is the error. */
export function readsAsLostError(text: string): boolean {
  return /^(?:\w{0,200}Error|\w{0,200}Exception)\b/.test(text)
}

/** Of a tool without a span: what applications and LangGraph write of an error. */
export function readsAsError(text: string): boolean {
  return /^(?:\w{0,200}(?:Error|Exception): \S|Error invoking tool )/.test(text)
}

/** How LangGraph says that no tool ran: of unknown tools, and of arguments that do not fit. */
export function readsAsRefusal(text: string): boolean {
  if (/^Error: (?:\S+ is not a valid tool, try|Tool "[^"]*" not found\.|Received tool input did not match)/.test(text))
    return true
  return text.startsWith('Error invoking tool ') && text.includes('did not match expected schema')
}
