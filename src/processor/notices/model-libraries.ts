/** A library that calls models, and what makes it write spans. */
interface ModelLibrary {
  /** Name of its package. */
  readonly name: string
  /** Folders of packages whose code is on the stack when it sends a request. */
  readonly packages: RegExp
  /** What it writes into the header `user-agent`; absent if it writes nothing of its own. */
  readonly userAgent?: RegExp
  /** What to do if it has written no span. */
  readonly cure: string
}

/** The libraries that we know. A library comes before those that it calls. */
const LIBRARIES: readonly ModelLibrary[] = [
  {
    name: '@mastra/core',
    packages: /^@mastra\/core$/,
    cure:
      'Mastra writes spans through its bridge: call new Mastra({ observability: new Observability({ configs: { default: ' +
      "{ serviceName: 'my-agents', bridge: new OtelBridge() } } }) }). See docs/frameworks/mastra.md.",
  },
  {
    name: '@openai/agents',
    packages: /^@openai\/agents(?:-core|-openai)?$/,
    userAgent: /\bAgents\/JavaScript\b/,
    cure:
      'Spans of OpenAI Agents need an instrumentation: new OpenAIAgentsInstrumentation({ tracerProvider: trace.getTracerProvider() })' +
      '.manuallyInstrument(agents), before the first run. See docs/frameworks/openai-agents.md.',
  },
  {
    name: '@langchain/core',
    packages: /^(?:@langchain\/.*|langchain)$/,
    userAgent: /\blangchainjs\b/,
    cure:
      'Spans of LangChain need an instrumentation: new LangChainInstrumentation().manuallyInstrument(CallbackManagerModule), before ' +
      'the first call, where CallbackManagerModule is @langchain/core/callbacks/manager. See docs/frameworks/langchain.md.',
  },
  {
    name: 'ai',
    packages: /^ai$/,
    userAgent: /(?:^|\s)ai\/\d/,
    cure:
      'The AI SDK writes spans after registerTelemetry(new OpenTelemetry()), called after the start of the SDK, from version 7 on, unless a call or agent has telemetry: { isEnabled: false }; and before with ' +
      'experimental_telemetry: { isEnabled: true } on each call. See docs/frameworks/ai-sdk.md.',
  },
  {
    name: '@anthropic-ai/sdk',
    packages: /^@anthropic-ai\/sdk$/,
    userAgent: /\bAnthropic\/JS\b/,
    cure: patching('@anthropic-ai/sdk', 'AnthropicInstrumentation', 'Anthropic', 'anthropic-sdk'),
  },
  {
    name: 'openai',
    packages: /^openai$/,
    userAgent: /\bOpenAI\/JS\b/,
    cure:
      patching('openai', 'OpenAIInstrumentation', 'OpenAI', 'openai-sdk') +
      ' @opentelemetry/instrumentation-openai, which is also in auto-instrumentations-node, supports openai 4 to 6 only.',
  },
]

/** How deep the library may be in the stack of a request. */
const STACK_DEPTH = 50

/** The folder of a package in a file's path. */
const PACKAGE_FOLDER = /[\\/]node_modules[\\/]((?:@[^\\/\s]+[\\/])?[^\\/@\s][^\\/\s]*)(?=[\\/])/g

/**
 * The library that sends a request, by the stack and by the header `user-agent`: the outermost one that we know.
 *
 * @param stack of the code that sends the request
 * @returns the name of its package; `undefined` if neither shows a library that we know
 */
export function callingLibrary(stack: string, userAgent: string): string | undefined {
  const folders = [...stack.matchAll(PACKAGE_FOLDER)].map(([, folder = '']) => folder.replace('\\', '/'))
  return LIBRARIES.find(
    (library) => folders.some((folder) => library.packages.test(folder)) || library.userAgent?.test(userAgent),
  )?.name
}

/** The stack of the caller, with the frames that it awaits. The application's own settings of stacks are kept. */
export function stackOfCaller(): string {
  const { stackTraceLimit } = Error
  try {
    Error.stackTraceLimit = STACK_DEPTH
    const { stack } = new Error()
    return typeof stack === 'string' ? stack : ''
  } catch {
    return ''
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/**
 * What makes a library write spans.
 *
 * @param names packages that may be the cause; of several, the one that calls the others is meant
 * @returns `undefined` if none is a library that we know
 */
export function cureOfLibrary(names: readonly string[]): string | undefined {
  return LIBRARIES.find(({ name }) => names.includes(name))?.cure
}

/** Why a client that an instrumentation patches may write no span, and what works in every case. */
function patching(library: string, instrumentation: string, client: string, page: string): string {
  return (
    `Spans of ${library} need an instrumentation. One that was started after ${library} was imported, or that registerInstrumentations ` +
    `starts among ES modules, has no effect; new ${instrumentation}().manuallyInstrument(${client}) always has. ` +
    `See docs/frameworks/${page}.md.`
  )
}
