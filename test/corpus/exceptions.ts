/** A fact that a recording does not hold, or holds in a form that two different truths share. */
export interface Exception {
  /** Names of libraries; all libraries if absent. */
  readonly library?: RegExp
  readonly scenario: RegExp
  readonly path: RegExp
  readonly why: string
}

/**
 * Every known difference between what was played and what is reconstructed, in addition to the facts that the recordings
 * themselves list as missing. A difference that is not here fails the suite, and so does an exception that is not needed.
 */
export const exceptions: readonly Exception[] = [
  {
    scenario: /^18-session$/,
    path: /^runs\[1\]\.history\.length$/,
    why: 'the second request repeats the first as history (its title says so); the expectation does not count it',
  },
  {
    library: /^(?!ai-|openinference-vercel|langfuse-otel|strands)/,
    scenario: /^(14-odd-values|16-odd-results\.)/,
    path: /\.result$/,
    why: 'a tool that returns JSON text is written as one that returns the value: on the wire both look the same',
  },
  {
    library: /^openinference-openai-agents-teams-/,
    scenario: /^output-guardrail/,
    path: /^runs\[0\]\.output$/,
    why: 'the guardrail ended the run, so the caller got an error and not the text that the model wrote before',
  },
  {
    library: /^traceloop-openai/,
    scenario: /^11-model-error$/,
    path: /^runs(\.length|\[0\])$/,
    why: 'the spans of the model call, the agent and the workflow never end when the call throws: nothing is exported',
  },
  {
    library: /^traceloop-openai/,
    scenario: /^11b-model-error-after-tool$/,
    path: /^runs\[0\]\.(status|agentName)$/,
    why: 'the spans of the failed call, the agent and the workflow are never exported: the run ends after its tool, status unknown',
  },
  {
    library: /^python-traceloop-openai-provider-tools/,
    scenario: /^mcp$/,
    path: /^runs\[0\]\.(toolCalls|missing)$/,
    why: 'calls of MCP servers by the provider leave nothing in the spans, not even a reason why the model stopped',
  },
  {
    library: /^strands/,
    scenario: /^09b-handoff$/,
    path: /^runs\[0\]\.toolCalls\[3\]\.result$/,
    why: 'the script gives the call that ends a swarm no result; the span has one',
  },
  {
    library: /^voltagent/,
    scenario: /^03-parallel-tools$/,
    path: /^runs\[0\]\.toolCalls$/,
    why: "the model's own calls are not recorded, and the tools start in the same millisecond: their order is nowhere",
  },
  {
    library: /^ai-4/,
    scenario: /^(05|11[fg]).*\.streamText$/,
    path: /^runs\[0\]\.(status|output|toolCalls)$/,
    why: 'a stream that ends because a tool threw, or could not be called, ends well as far as its spans show, and a refused call is nowhere',
  },
  {
    library: /^ai-4/,
    scenario: /^11[fg].*\.generateText$/,
    path: /^runs\[0\]\.toolCalls\[0\]\.error$/,
    why: 'a refused call fails the run, whose error it is; the call itself has no span and no answer',
  },
  {
    library: /^(openinference|traceloop)-openai-bare/,
    scenario: /^11b-/,
    path: /^runs\[0\]\.(status|missing|toolCalls\[0\]\.result)$/,
    why: 'the span of the model call that failed is lost, and with it what the tool before gave back',
  },
  {
    library: /^traceloop-langchain/,
    scenario: /^11-error-first/,
    path: /^runs\[0\]\.agentName$/,
    why: 'the name of the agent is in its answers alone, and there is none',
  },
  {
    library: /^python-traceloop-.*-bare/,
    scenario: /^10-content-off$/,
    path: /^runs\[0\]\.toolCalls$/,
    why: 'without content, and without spans of tools, nothing says what was called',
  },
  {
    library: /^ai-7.*-legacy/,
    scenario: /^approval-given/,
    path: /^runs\[1\]\.toolCalls$/,
    why: 'a tool that runs because its user agreed, before the first model call, has no span in the older form',
  },
  {
    library: /^python-otel-openai-agents-v2-responses/,
    scenario: /^13b-earlier-tool-call$/,
    path: /^runs\[0\]\.history\.length$/,
    why: 'the calls of the history are not written at all',
  },
  {
    library: /^python-openinference-crewai/,
    scenario: /^11/,
    path: /^runs\[0\]\.userInput$/,
    why: "a task's description is in its output: of one that failed only the prompt that was built from it is there",
  },
  {
    library: /^python-openinference-smolagents/,
    scenario: /^11/,
    path: /^runs(\.length|\[0\]\.(agentName|userInput|status))$/,
    why: 'the span of an agent that raises is never exported: its steps are left, which share nothing but a parent that never came',
  },
  {
    library: /^python-any-agent-langchain/,
    scenario: /^(03|07)-/,
    path: /^runs\[0\]\.(toolCalls\[0\]\.result|missing)$/,
    why: 'of tools that run at the same time only the span of the last one ends: what the others gave back is nowhere',
  },
  {
    library: /^gemini-cli/,
    scenario: /^13-content-off$/,
    path: /^runs\[0\]\.toolCalls$/,
    why: "without content nothing connects the traces of tools with those of the model calls; the run names its calls as missing",
  },
  {
    library: /^claude-code/,
    scenario: /^09-/,
    path: /^runs\[0\]\.missing$/,
    why: 'a tool that starts an agent returns its answer, which is the output of that run; the tool itself has no result in the records',
  },
]
