import { deepEqual, deepStrictEqual, notDeepStrictEqual } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { inspect, promisify } from 'node:util'

import { describe, expect, it } from 'vitest'

import { createScorer } from '../../scorers/create/create-scorer.ts'
import { reconstructRuns } from '../build-runs.ts'
import { sourceSpan } from '../../../test/fixtures/source-span.ts'
import type { AgentRun } from '../../model/agent-run.ts'

const messages = (role: string, ...parts: readonly object[]) => JSON.stringify([{ role, parts }])
const text = (content: string) => ({ type: 'text', content })

/** A run with a tool call and a nested agent. */
function weatherSpans(answer = 'It is sunny.') {
  return [
    {
      spanId: 'a',
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'weather',
        'gen_ai.input.messages': messages('user', text('Oslo?')),
        'gen_ai.output.messages': messages('assistant', text(answer)),
      },
    },
    {
      spanId: 'c',
      parentSpanId: 'a',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'm',
        'gen_ai.output.messages': messages('assistant', { type: 'tool_call', id: '1', name: 'ask', arguments: {} }),
      },
    },
    {
      spanId: 't',
      parentSpanId: 'a',
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'ask',
        'gen_ai.tool.call.id': '1',
        'gen_ai.tool.call.result': '{"sun":true}',
      },
    },
    {
      spanId: 'n',
      parentSpanId: 't',
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'inner' },
    },
  ].map((fields, index) => sourceSpan({ startTimeMs: index, endTimeMs: 10, ...fields }))
}

/** The run as an application gets it. */
function weatherRun(answer?: string): AgentRun {
  const [run] = reconstructRuns(weatherSpans(answer))
  if (run === undefined) throw new Error('expected a run')
  return run
}

/** A scorer's view of messages that were passed to `.run()`. */
async function givenRun(): Promise<AgentRun> {
  const seen: AgentRun[] = []
  const scorer = createScorer({ id: 'sees', description: '' }).generateScore(({ agentRun }) => {
    seen.push(agentRun)
    return 1
  })
  await scorer.run({ input: 'Oslo?', output: 'It is sunny.' })
  const [run] = seen
  if (run === undefined) throw new Error('expected a run')
  return run
}

const whole = (run: unknown): unknown => JSON.parse(JSON.stringify(run))

describe('A run of an application', () => {
  it.each([
    ['from spans', () => weatherRun()],
    ['from messages', givenRun],
  ])('%s is whole in copies by every way', async (_, make) => {
    const run = await make()
    expect(run.output).toBe('It is sunny.')
    expect(whole(structuredClone(run))).toEqual(whole(run))
    expect(whole({ ...run })).toEqual(whole(run))
    expect(whole(Object.assign({}, run))).toEqual(whole(run))
    expect(Object.keys(run)).toEqual(expect.arrayContaining(['id', 'input', 'output', 'toolCalls', 'steps', 'usage']))
    expect(Object.isFrozen(run)).toBe(true)
  })

  it('has calls, steps and nested runs that are whole too', () => {
    const { toolCalls, steps, children } = structuredClone(weatherRun())
    expect(toolCalls).toMatchObject([{ name: 'ask', result: { sun: true }, status: 'ok' }])
    expect(steps).toMatchObject([{ model: 'm', toolCallIds: ['1'] }])
    expect(children).toMatchObject([{ agent: { name: 'inner' }, parent: { toolCallId: '1' } }])
    const run = weatherRun()
    expect(run.toolCalls).toBe(run.toolCalls)
  })

  it('equals a run with the same facts, and no other', () => {
    expect(weatherRun()).toEqual(weatherRun())
    expect(weatherRun()).toEqual(whole(weatherRun()))
    expect(weatherRun()).not.toEqual(weatherRun('It rains.'))
    deepStrictEqual(weatherRun(), weatherRun())
    notDeepStrictEqual(weatherRun(), weatherRun('It rains.'))
    deepEqual(structuredClone(weatherRun()), structuredClone(weatherRun()))
  })

  it('is printed with its facts', () => {
    expect(inspect(weatherRun(), { depth: 4 })).toContain("output: 'It is sunny.'")
    expect(inspect(weatherRun().toolCalls)).toContain("name: 'ask'")
  })

  it('shows the difference when an assertion of a test fails', { timeout: 60_000 }, async () => {
    const folder = resolve('.cache/own-facts')
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    writeFileSync(
      `${folder}/failing.test.ts`,
      `import { deepStrictEqual } from 'node:assert/strict'
import { reconstructRuns } from 'spanscore/runs'
import { expect, it } from 'vitest'

const [run] = reconstructRuns(${JSON.stringify(weatherSpans())})
it('toMatchObject', () => expect(run).toMatchObject({ output: 'It rains.', toolCalls: [{ name: 'other' }] }))
it('toEqual', () => expect(run).toEqual({ ...run, output: 'It rains.' }))
it('toStrictEqual', () => expect(run).toStrictEqual({ ...run, output: 'It rains.' }))
it('toHaveProperty', () => expect(run).toHaveProperty('output', 'It rains.'))
it('assert', () => deepStrictEqual(run, { ...run, output: 'It rains.' }))
`,
    )
    writeFileSync(`${folder}/vitest.config.ts`, "export default { test: { include: ['*.test.ts'] } }\n")
    const { stdout, stderr } = await promisify(execFile)(resolve('node_modules/.bin/vitest'), ['run'], {
      cwd: folder,
      env: { ...process.env, FORCE_COLOR: '0', NO_COLOR: '1' },
    }).catch((error: { stdout: string; stderr: string }) => error)
    expect(stdout).toContain('5 failed')
    expect(stderr).not.toContain('TypeError')
    expect(stderr.match(/\+.*It is sunny\./g)?.length).toBeGreaterThanOrEqual(4)
    expect(stderr.match(/-.*It rains\./g)?.length).toBeGreaterThanOrEqual(4)
  })
})
