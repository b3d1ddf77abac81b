// Two runs of the agent at the same time, scored as COMPAT_MODE attaches it. Prints what the process alone knows.
const createAgent = require('./agent.cjs')
const createPlainAgent = require('./plain-agent.cjs')
const scorers = require('./scorers.cjs')
const telemetry = require('./telemetry.cjs')

module.exports = async function scenario(get) {
  const mode = process.env.COMPAT_MODE
  const said = []
  const { diag, DiagLogLevel, trace } = get('@opentelemetry/api')
  const say =
    (level) =>
    (...words) =>
      said.push(`${level} ${words.join(' ')}`)
  diag.setLogger(
    { error: say('error'), warn: say('warn'), info: say('info'), debug() {}, verbose() {} },
    { logLevel: DiagLogLevel.INFO, suppressOverrideMessage: true },
  )
  const { ScoringSpanProcessor, attachScoring } = get('spanscore')

  let scoring
  let sdk = globalThis.compatSdk
  const exports = () => telemetry.spanProcessor(get)
  if (mode === 'off') sdk = telemetry.startNodeSdk(get, [exports()])
  if (mode === 'front') {
    scoring = new ScoringSpanProcessor({ scorers: scorers(get), next: exports() })
    sdk = telemetry.startNodeSdk(get, [scoring])
  }
  if (mode === 'beside') {
    scoring = new ScoringSpanProcessor({ scorers: scorers(get) })
    sdk = telemetry.startNodeSdk(get, [scoring, exports()])
  }
  if (mode === 'attach') sdk = telemetry.startNodeSdk(get, [exports()])
  if (mode === 'bare') sdk = telemetry.startBareProvider(get, [exports()])
  if (mode === 'vercel') sdk = telemetry.startVercel(get)
  if (mode === 'sentry') sdk = telemetry.startSentry(get)
  if (['attach', 'bare', 'vercel', 'sentry', 'none'].includes(mode)) scoring = attachScoring({ scorers: scorers(get) })
  // The configuration file has attached already: attaching to the same provider again returns that.
  if (mode === 'register') scoring = attachScoring({ scorers: scorers(get) })

  // Without a context manager the AI SDK's spans have no parents, and make no trace with anybody.
  const agent = createAgent(get)
  const ask = mode === 'bare' ? createPlainAgent(get) : agent
  const answers = await Promise.all([ask('Oslo'), ask('Lima')])
  await scoring?.forceFlush()
  const ledger = scoring?.ledger()
  await sdk?.shutdown()
  await scoring?.shutdown()
  const provider = trace.getTracerProvider().getDelegate?.()?.constructor.name
  console.log(
    `COMPAT ${JSON.stringify({ answers: answers.map(({ text }) => text), ledger, said, provider, node: process.version })}`,
  )
}
