import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { afterAll, describe, expect, it } from 'vitest'

import { scoredInProcess, withAttributes } from './scored-in-process.ts'
import { createSink } from './sink.ts'
import type { Sink } from './sink.ts'
import { makeRun, toRequest, until } from './traces.ts'
import type { MadeRun } from './traces.ts'

/** A system that builds runs and scores them. */
export interface ScoringSystem {
  /** Whether it continues with its earlier data after a restart. */
  readonly isDurable: boolean
  /** Sends an OTLP/JSON request with spans. */
  send(request: unknown): Promise<void>
  /** Sends a protobuf OTLP request with the spans of one trace. */
  sendBytes(traceId: string, body: Buffer): Promise<void>
  restart(): Promise<void>
  counts(): unknown
  stop(): Promise<void>
}

/** Starts a system without any data. */
export type StartSystem = (to: string, configPath?: string) => Promise<ScoringSystem>

const runOf = (log: { traceId: string; spanId: string }) => `${log.traceId}:${log.spanId}`

const ofRun = (sink: Sink, run: MadeRun) => sink.logs.filter(({ traceId }) => traceId === run.traceId)

async function sendAll(system: ScoringSystem, run: MadeRun): Promise<void> {
  for (const request of run.requests) await system.send(request)
}

/** Tests that must pass with every log on which spans wait. */
export function describeScenarios(where: string, start: StartSystem): void {
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-scenarios-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const configFile = (file: string, content: string): string => {
    writeFileSync(join(folder, file), content)
    return join(folder, file)
  }

  describe(`with its log ${where}`, () => {
    it('scores a run whose spans arrive one by one, and sends events and late spans with the resource of its service', async () => {
      await using sink = await createSink()
      const system = await start(sink.url)
      const run = makeRun({ toolFails: true })
      await sendAll(system, run)
      await until(() => sink.spans.length >= 3, 'the scores', 30_000)
      await system.stop()

      const byName = new Map(sink.logs.map((log) => [log.attributes['gen_ai.evaluation.name'], log]))
      const toolErrors = byName.get('tool_errors')
      expect(toolErrors).toMatchObject({
        traceId: run.traceId,
        spanId: run.agentSpanId,
        eventName: 'gen_ai.evaluation.result',
        attributes: {
          'gen_ai.agent.name': 'weather-agent',
          'gen_ai.evaluation.score.label': 'fail',
          'spanscore.revision': 3,
          'spanscore.complete': true,
        },
      })
      expect(toolErrors?.attributes['spanscore.score.key']).toMatch(/^[0-9a-f]{32}$/)
      const late = sink.spans.find((span) => span.name === 'evaluate tool_errors')
      expect(late).toMatchObject({ traceId: run.traceId, parentSpanId: run.agentSpanId, scope: { name: 'spanscore' } })
      expect(late?.resource['service.name']).toBe('weather-app')
      expect(system.counts()).toMatchObject({ outbox: { waiting: 0, refused: 0 } })
    })

    it('sends the scores of an agent of another service with those of the agent that called it', async () => {
      await using sink = await createSink()
      const configPath = configFile('every-agent.yaml', 'scorers: [{ name: answer_present, scope: every-agent }]')
      const system = await start(sink.url, configPath)
      const outer = makeRun()
      const inner = makeRun({ traceId: outer.traceId, text: 'How cold is it?' })
      const named: readonly object[] = JSON.parse(JSON.stringify(inner.spans).replaceAll('weather-agent', 'helper'))
      const [, tool] = outer.spans as readonly { readonly spanId: string }[]
      const innerSpans = named.map((span) => ({ parentSpanId: tool?.spanId, ...span }))
      await system.send(toRequest(innerSpans, 'helper-app'))
      await system.send(toRequest(outer.spans))
      await until(() => sink.logs.length >= 2 && sink.spans.length >= 2, 'the scores of both agents', 15_000)
      await system.stop()
      expect(new Set(sink.logs.map(({ spanId }) => spanId))).toEqual(new Set([outer.agentSpanId, inner.agentSpanId]))
      const services = sink.spans.map(({ parentSpanId, resource }) => [parentSpanId, resource['service.name']])
      expect(new Map(services as [string, string][])).toEqual(
        new Map([
          [outer.agentSpanId, 'weather-app'],
          [inner.agentSpanId, 'helper-app'],
        ]),
      )
    })

    it('scores every run of thousands that are complete at the same moment, also with a slow scorer', async () => {
      await using sink = await createSink()
      const configPath = configFile(
        'spanscore.config.mjs',
        `import { createScorer } from 'spanscore/scorers/prebuilt'
        const pause = () => new Promise((resolve) => setTimeout(resolve, 1))
        const patient = createScorer({ id: 'patient', description: 'Takes its time.', passAt: 0.5, version: 1 })
        export default { scorers: [patient.generateScore(async () => { await pause(); return 1 })] }`,
      )
      const system = await start(sink.url, configPath)
      const runs = Array.from({ length: 2500 }, () => makeRun())
      for (const place of [0, 1, 2]) await system.send(toRequest(runs.map((run) => run.spans[place])))
      await until(() => sink.logs.length >= runs.length, 'a score of every run', 40_000)
      await system.stop()
      expect(new Set(sink.logs.map(runOf)).size).toBe(runs.length)
    }, 90_000)

    it('sends a higher revision of the same score for a late span, also after a restart', async () => {
      await using sink = await createSink()
      const system = await start(sink.url)
      const [run, other] = [makeRun(), makeRun()]
      await sendAll(system, run)
      await until(() => sink.spans.length >= 3, 'the scores', 30_000)
      const before = sink.logs.length
      if (system.isDurable) await system.restart()
      await sendAll(system, other)
      await until(() => ofRun(sink, other).length > 0, 'the scores of another run', 30_000)
      // What was scored before the restart is not scored again.
      expect(ofRun(sink, run).length).toBe(before)
      const late = {
        traceId: run.traceId,
        spanId: 'abcdef0123456789',
        parentSpanId: run.agentSpanId,
        name: 'execute_tool search',
        kind: 1,
        startTimeUnixNano: '1',
        endTimeUnixNano: '2',
        attributes: [
          { key: 'gen_ai.operation.name', value: { stringValue: 'execute_tool' } },
          { key: 'gen_ai.tool.name', value: { stringValue: 'search' } },
        ],
        status: { code: 2 },
      }
      await system.send(toRequest([late]))
      await until(() => ofRun(sink, run).length > before, 'the second revision', 30_000)
      await system.stop()
      const revisions = ofRun(sink, run).filter((log) => log.attributes['gen_ai.evaluation.name'] === 'tool_errors')
      expect(revisions.map((log) => log.attributes['spanscore.revision'])).toEqual([3, 4])
      expect(new Set(revisions.map((log) => log.attributes['spanscore.score.key'])).size).toBe(1)
      expect(new Set(revisions.map((log) => log.attributes['spanscore.score.id'])).size).toBe(2)
      expect(revisions.map((log) => log.attributes['gen_ai.evaluation.score.label'])).toEqual(['pass', 'fail'])
    }, 60_000)

    it('keeps scores until the destination acknowledges them, and accepts spans meanwhile', async () => {
      await using sink = await createSink()
      const system = await start(sink.url)
      sink.status = 0
      await sendAll(system, makeRun())
      const outbox = () => (system.counts() as { outbox: { failures: number } }).outbox
      await until(() => outbox().failures > 0, 'a failed attempt', 30_000)
      sink.status = 200
      await until(() => sink.spans.length >= 3, 'the scores', 30_000)
      await system.stop()
      const ids = sink.logs.map((log) => log.attributes['spanscore.score.id'])
      expect(new Set(ids).size).toBe(ids.length)
    })

    it('sends nothing of a partial success again, as OTLP demands, and counts what was rejected', async () => {
      await using sink = await createSink()
      const system = await start(sink.url)
      // ExportLogsServiceResponse { partial_success { rejected_log_records: 1 } }
      sink.partial = Buffer.from([0x0a, 0x02, 0x08, 0x01])
      await sendAll(system, makeRun())
      const outbox = () => (system.counts() as { outbox: { refused: number } }).outbox
      await until(() => outbox().refused > 0, 'a rejected record', 30_000)
      await system.stop()
      expect(system.counts()).toMatchObject({ outbox: { refused: 1, acknowledged: 7, waiting: 0 } })
    })

    it('leaves out a scorer whose score a processor in the application has put on the agent span, in the same version', async () => {
      await using sink = await createSink()
      const system = await start(sink.url)
      const spans = await scoredInProcess()
      const other = spans.map((span) =>
        withAttributes(span, span.spanContext().traceId.replace(/./g, 'e'), {
          'spanscore.tool_errors.version': 'other123',
        }),
      )
      const send = (body: readonly ReadableSpan[]) =>
        system.sendBytes(
          body[0]?.spanContext().traceId ?? '',
          Buffer.from(ProtobufTraceSerializer.serializeRequest([...body])!),
        )
      await send(spans)
      await send(other)
      const namesOf = (span: ReadableSpan) =>
        sink.logs
          .filter(({ traceId }) => traceId === span.spanContext().traceId)
          .map((log) => log.attributes['gen_ai.evaluation.name'])
          .toSorted()
      await until(
        () => namesOf(other[0]!).length > 1 && namesOf(spans[0]!).length > 0,
        'the scores of both runs',
        30_000,
      )
      await system.stop()
      expect(namesOf(spans[0]!)).toEqual(['answer_present'])
      expect(namesOf(other[0]!)).toEqual(['answer_present', 'tool_errors'])
      expect(system.counts()).toMatchObject({
        ledger: { scorers: { tool_errors: { reasons: { 'already-scored': 1 } } } },
      })
    })

    it('copies the requested attributes to events, also those of the request around the run', async () => {
      await using sink = await createSink()
      const config = 'scorers: [tool_errors]\nmetricAttributes: [service.name, gen_ai.agent.name, app.plan, absent]\n'
      const system = await start(sink.url, configFile('spanscore.yaml', config))
      await sendAll(system, makeRun({ serviceName: 'shop', plan: 'team' }))
      await until(() => sink.logs.length > 0, 'the score', 30_000)
      await system.stop()
      expect(sink.logs[0]?.attributes).toMatchObject({
        'service.name': 'shop',
        'gen_ai.agent.name': 'weather-agent',
        'app.plan': 'team',
      })
      // It is once in the resource, and once in each data point.
      const metrics = sink.requests
        .map(({ body }) => body.toString('latin1'))
        .filter((body) => body.includes('spanscore.score'))
      expect(metrics.some((body) => body.split('shop').length > 3)).toBe(true)
    })

    it('scores nothing that spanscore wrote', async () => {
      await using sink = await createSink()
      const system = await start(sink.url)
      const [own, other] = [makeRun({ scope: 'spanscore' }), makeRun()]
      await sendAll(system, own)
      await sendAll(system, other)
      await until(() => ofRun(sink, other).length > 0, 'the scores of a run that it did not write', 30_000)
      await system.stop()
      expect(ofRun(sink, own)).toEqual([])
    })
  })
}
