import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { DiagLogLevel, diag } from '@opentelemetry/api'
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer'
import { afterAll, expect, it } from 'vitest'

import { MARK, markedSpans } from '../../test/hostile/marked-run.ts'
import { startServer } from '../src/start.ts'
import { serverOptions } from './server-options.ts'
import { createSink } from './sink.ts'
import { post, until } from './traces.ts'

const folder = mkdtempSync(join(tmpdir(), 'spanscore-stripped-'))
afterAll(() => {
  diag.disable()
  rmSync(folder, { recursive: true })
})

const config = (stripContent: boolean): string => `
  import * as scorers from 'spanscore/scorers/prebuilt'
  const quoting = (run) => { throw new Error('It says ' + run.userInput) }
  export default {
    stripContent: ${stripContent},
    scorers: [
      scorers.createLoopScorer({ maxIdentical: 1 }), scorers.createHallucinatedToolScorer({ tools: ['t'] }),
      scorers.createToolArgumentsScorer(), scorers.createToolErrorsScorer(), scorers.createOutputFormatScorer({ json: true }),
      scorers.createTrajectoryScorer({ expected: ['x', { name: 't', arguments: { city: 'Oslo' } }] }),
      scorers.createScorer({ id: 'throws', description: 'Throws.' }).generateScore(({ run }) => { throw new Error(JSON.stringify(run)) }),
      scorers.createScorer({ id: 'quotes', description: 'Quotes.' }).generateScore(() => 0.5).generateReason(({ run }) => JSON.stringify(run)),
      { scorer: scorers.createScorer({ id: 'whenever', description: 'When.' }).generateScore(() => 1), when: quoting },
    ],
  }`

it.each([true, false])(
  'with stripContent: %s, the service writes quotes of the run only if it is off',
  async (stripContent) => {
    await using sink = await createSink()
    const lines: string[] = []
    const note = (...parts: unknown[]) => void lines.push(parts.join(' '))
    diag.setLogger({ error: note, warn: note, info: note, debug() {}, verbose() {} }, { logLevel: DiagLogLevel.INFO })
    const configPath = join(folder, `config-${stripContent}.mjs`)
    writeFileSync(configPath, config(stripContent))
    const server = await startServer(serverOptions(sink.url, { configPath, report: (line) => void lines.push(line) }))
    const request: unknown = JSON.parse(new TextDecoder().decode(JsonTraceSerializer.serializeRequest(markedSpans())))
    expect(await post(server.httpPort, request)).toBe(200)
    await until(() => sink.logs.length >= 9, 'the scores')
    await server.stop()
    const sent =
      JSON.stringify([sink.logs, sink.spans]) + sink.requests.map((one) => one.body.toString('latin1')).join()
    expect(sent.includes(MARK)).toBe(!stripContent)
    // The log of the service never quotes a run.
    expect(lines.join('\n')).not.toContain(MARK)
  },
)
