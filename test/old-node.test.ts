import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** Makes this Node.js lack what older ones lack, before anything else is loaded. */
const LACKS = [
  'process.getBuiltinModule=undefined',
  'delete Promise.withResolvers',
  'delete Map.groupBy',
  "Object.defineProperty(process,'version',{value:'v20.15.0'})",
]
const OLD = `--import=data:text/javascript,${encodeURIComponent(LACKS.join(';'))}`

const REFUSAL = 'spanscore needs Node.js 22.15 or later, and this is v20.15.0.'

function run(code: string, ...flags: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [OLD, ...flags, '--input-type=module', '-e', code], {
    encoding: 'utf8',
    env: { ...process.env, SPANSCORE_CONFIG: 'cli/sample/spanscore.config.mjs' },
  })
  return { status, stdout, stderr }
}

describe('a Node.js that is too old', () => {
  it.each(globSync('dist/entries/*.js'))('loads %s', (file) => {
    expect(run(`await import('./${file.replaceAll('\\', '/')}')`)).toEqual({ status: 0, stdout: '', stderr: '' })
  })

  it.each(['attachScoring(options)', 'new ScoringSpanProcessor(options)'])(
    'is named once by %s, and the application exports its spans',
    (attached) => {
      const { status, stdout, stderr } = run(`
        import { trace } from '@opentelemetry/api'
        import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
        import { attachScoring, createAnswerPresentScorer, createPromptAlignmentScorerLLM, ScoringSpanProcessor } from 'spanscore'
        const exporter = new InMemorySpanExporter()
        const next = new SimpleSpanProcessor({ exporter })
        const scorers = [createAnswerPresentScorer(), createPromptAlignmentScorerLLM({ model: 'openai/gpt-5-mini' })]
        const isAttached = ${attached.startsWith('attach')}
        const own = isAttached ? undefined : new ScoringSpanProcessor({ scorers, next })
        const provider = new TracerProvider({ spanProcessors: [own ?? next] })
        trace.setGlobalTracerProvider(provider)
        const scoring = own ?? attachScoring({ scorers })
        trace.getTracer('app').startSpan('invoke_agent', { attributes: { 'gen_ai.operation.name': 'invoke_agent' } }).end()
        await scoring.forceFlush()
        console.log(exporter.getFinishedSpans().length, scoring.ledger().runs.seen)
        await provider.shutdown()
        console.log('ends')`)
      expect({ status, stdout }).toEqual({ status: 0, stdout: '1 0\nends\n' })
      expect(stderr).toContain('[SPANSCORE_NODE_VERSION] spanscore: Nothing is scored. Expected Node.js 22.15 or later')
      expect(stderr.match(/spanscore:/g)).toHaveLength(1)
    },
  )

  it('is named once by --import spanscore/register, and the application runs', () => {
    const application = `
      import { trace } from '@opentelemetry/api'
      import { TracerProvider } from '@opentelemetry/sdk-trace'
      trace.setGlobalTracerProvider(new TracerProvider())
      console.log('runs')`
    const { status, stdout, stderr } = run(application, '--import=spanscore/register')
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'runs\n' })
    expect(stderr).toContain(
      `[SPANSCORE_NODE_VERSION] spanscore: spanscore/register: ${REFUSAL} The application runs unscored.`,
    )
    expect(stderr.match(/spanscore:/g)).toHaveLength(1)
  })
})
