/** How much a notice matters: `warn` and `error` are shown by default, `info` only with `SPANSCORE_LOG=info`. */
export type NoticeLevel = 'info' | 'warn' | 'error'

/** One kind of notice. */
export interface Notice {
  readonly level: NoticeLevel
  /** When it is shown. Part of the reference. */
  readonly when: string
  /** What to do about it. Part of the reference. */
  readonly cure: string
}

/** The stable code of a notice, as `node --disable-warning=CODE` takes it. */
export type NoticeCode =
  | 'SPANSCORE_ATTACHED'
  | 'SPANSCORE_TOO_EARLY'
  | 'SPANSCORE_NO_PROVIDER'
  | 'SPANSCORE_NOT_ATTACHED'
  | 'SPANSCORE_ATTACHED_TWICE'
  | 'SPANSCORE_NO_EXPORT'
  | 'SPANSCORE_NO_METRICS'
  | 'SPANSCORE_EXPORT_FAILED'
  | 'SPANSCORE_CONFIG'
  | 'SPANSCORE_ENVIRONMENT'
  | 'SPANSCORE_NODE_VERSION'
  | 'SPANSCORE_JUDGE'
  | 'SPANSCORE_NO_CONTENT'
  | 'SPANSCORE_NO_SUCH_AGENT'
  | 'SPANSCORE_NO_SUCH_TOOL'
  | 'SPANSCORE_NO_RUNS'
  | 'SPANSCORE_SCORER'
  | 'SPANSCORE_CALLBACK'
  | 'SPANSCORE_UNFINISHED'
  | 'SPANSCORE_LATE_SCORES'
  | 'SPANSCORE_TRACED_TWICE'
  | 'SPANSCORE_SHUT_DOWN'
  | 'SPANSCORE_BUDGET'

/** All notices about the set-up of scoring. None contains content of a run. */
export const notices: Readonly<Record<NoticeCode, Notice>> = {
  SPANSCORE_ATTACHED: {
    level: 'info',
    when: 'Scoring was attached to a tracer provider, and has read the first of its spans.',
    cure: 'Nothing: it names the provider, its processors and the scorers.',
  },
  SPANSCORE_TOO_EARLY: {
    level: 'error',
    when: '`attachScoring` was called while no tracer provider was registered.',
    cure: 'Call it after the SDK has started, or pass `tracerProvider`. Sentry 11 and Datadog register none: see distributions.md.',
  },
  SPANSCORE_NO_PROVIDER: {
    level: 'error',
    when: '`spanscore/register` found no tracer provider, 30 seconds after the start of a process that has loaded an OpenTelemetry SDK as CommonJS, or after a process has called a model, or when such a process ends.',
    cure: 'Start the SDK: `sdk.start()`, or `trace.setGlobalTracerProvider(provider)`.',
  },
  SPANSCORE_NOT_ATTACHED: {
    level: 'error',
    when: 'The tracer provider does not show its span processors, its spans cannot be read, or it has a processor that `stripContent` cannot take content from.',
    cure: 'Put a `ScoringSpanProcessor` into the `spanProcessors` of the provider. For Sentry and Datadog see distributions.md.',
  },
  SPANSCORE_ATTACHED_TWICE: {
    level: 'warn',
    when: '`attachScoring` was called again for the same provider, with other options. The first options stay.',
    cure: 'Call it once, or `detach()` first.',
  },
  SPANSCORE_NO_EXPORT: {
    level: 'warn',
    when: 'The provider has no span processor besides a `ScoringSpanProcessor` without `next`, and there is no `onScore`: no span is exported.',
    cure: 'Set `next`, or put a processor with an exporter beside it. In `new NodeSDK({ spanProcessors })`, the list replaces the export of the SDK.',
  },
  SPANSCORE_NO_METRICS: {
    level: 'warn',
    when: 'A scorer has `alerts`, and at the first score there is no meter provider, or `emit.metrics` is off: no alert can fire.',
    cure: 'Register a meter provider: in `NodeSDK`, set `metricReaders`, and not `OTEL_METRICS_EXPORTER=none`. Or take `alerts` out.',
  },
  SPANSCORE_EXPORT_FAILED: {
    level: 'warn',
    when: 'An exporter could not reach its endpoint, or was refused, when it was flushed or shut down.',
    cure: 'Start what should receive the data, or correct `OTEL_EXPORTER_OTLP_ENDPOINT`.',
  },
  SPANSCORE_CONFIG: {
    level: 'error',
    when: '`spanscore/register` could not read the configuration file, or an option in it is wrong.',
    cure: 'The line names the place and what was expected. `npx @spanscore/cli doctor` checks the file.',
  },
  SPANSCORE_ENVIRONMENT: {
    level: 'warn',
    when: 'A `SPANSCORE_*` variable has a wrong value, a name within two letters of a known one, or no effect because the application attaches in its code.',
    cure: 'The line names the variable that was probably meant, or the option to set. See environment.md.',
  },
  SPANSCORE_NODE_VERSION: {
    level: 'error',
    when: 'The version of Node.js is too old.',
    cure: 'Start the application with the version that the line names, or a newer one.',
  },
  SPANSCORE_JUDGE: {
    level: 'error',
    when: 'A judge cannot be asked: its key or package is missing, or the provider refuses the key, the account or the model. Or it was asked, and gave no score five times in a row, or does not use `judge.effort`.',
    cure: 'The line names what is missing, or the code of the failure.',
  },
  SPANSCORE_NO_CONTENT: {
    level: 'warn',
    when: 'Runs hold no messages, arguments or results, or a setting keeps out the question or the answer, and a configured scorer reads them.',
    cure: 'The line names the setting that records them, where the instrumentation has one.',
  },
  SPANSCORE_NO_SUCH_AGENT: {
    level: 'warn',
    when: "No run was of an agent that a scorer's `agent` names, while an agent with a similar name was among them, or no agent had a name: after 100 runs, and, in an application, at the shutdown.",
    cure: 'Correct the name, or record one.',
  },
  SPANSCORE_NO_SUCH_TOOL: {
    level: 'warn',
    when: 'A scorer expects a tool that was never offered to the agent, while one of a similar name is. Such runs are `skipped: no-such-tool`.',
    cure: 'Correct the name in the options of the scorer, or in `spanscore.expected_tools`.',
  },
  SPANSCORE_NO_RUNS: {
    level: 'warn',
    when: 'The application calls models, which HTTP spans, its requests or `gen_ai.*` attributes show, and 30 seconds later, or at the end, there is no agent run.',
    cure: 'The line names the cause if the sampler has left the calls out. Otherwise switch on the telemetry of the AI SDK (`registerTelemetry`), add an instrumentation that records agents or model calls, or correct `gen_ai.operation.name` of spans that you write yourself: see ../own-spans.md.',
  },
  SPANSCORE_SCORER: {
    level: 'warn',
    when: "A scorer, its `when` or `sample`, or `redact` threw, or returned what it must not. The score is `failed`; each scorer's codes are reported once.",
    cure: 'Correct it. The line names the class and place of an error; `.run()` of the scorer rejects with the error itself.',
  },
  SPANSCORE_CALLBACK: {
    level: 'error',
    when: '`onScore` or `onJudgeCall` threw, or returned a promise that rejected.',
    cure: 'Correct it. The line names the class and place of the error, and not its message, which may quote a run.',
  },
  SPANSCORE_UNFINISHED: {
    level: 'warn',
    when: 'The process exited with code 0, by `process.exit()` for example, while scores were pending, spans were held for them, or spans of runs waited in a batch processor.',
    cure: 'Call `await scoring.forceFlush()` and `await sdk.shutdown()` before the exit.',
  },
  SPANSCORE_LATE_SCORES: {
    level: 'warn',
    when: 'Loggers, or span processors beside spanscore, were shut down before it was: judges and large runs take longer than one turn of the event loop. `NodeSDK.shutdown()` has the right order. The line names how many events are lost. The scores are in the metrics and, where spanscore has a `next` or is attached, on spans.',
    cure: 'Await `forceFlush()` before the shutdown, or shut the tracer provider down before the logger provider. List spanscore before the other span processors.',
  },
  SPANSCORE_TRACED_TWICE: {
    level: 'warn',
    when: 'The telemetry of AI SDK 7 was registered twice, and runs were recorded twice.',
    cure: 'Call `registerTelemetry` once per process, where the SDK is started.',
  },
  SPANSCORE_SHUT_DOWN: {
    level: 'warn',
    when: 'An agent or a model was called after the SDK had been shut down: the run is neither scored nor exported.',
    cure: 'Call `sdk.shutdown()` after the last run.',
  },
  SPANSCORE_BUDGET: {
    level: 'warn',
    when: 'Judges would take more than the default budget allows.',
    cure: 'Set `budget`, or lower the `sample` of judges.',
  },
}
