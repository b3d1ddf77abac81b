/** Whether a span says that the conversation of its run is over. `session_closed` is what semantic-conventions-genai#390 proposes. */
export function endsConversation(attributes: Readonly<Record<string, unknown>>): boolean {
  return (
    attributes['spanscore.conversation.end'] === true ||
    attributes['gen_ai.agent.invocation.end_reason'] === 'session_closed'
  )
}
