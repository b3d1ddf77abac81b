import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** Makes this Node.js lack what versions below 20.16 lack, before anything else is loaded. */
const OLD = '--import=data:text/javascript,process.getBuiltinModule=undefined'

const REFUSAL = `spanscore needs Node.js 22.15 or later, and this is ${process.version}.`

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

  it('is named where a scorer is created', () => {
    const { status, stderr } = run("import { createAnswerPresentScorer } from 'spanscore'\ncreateAnswerPresentScorer()")
    expect(status).toBe(1)
    expect(stderr).toContain(`Error: ${REFUSAL}`)
  })

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
