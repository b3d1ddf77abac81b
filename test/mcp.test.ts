/** `spanscore mcp`, by the official clients over the real transport. */
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { saveDay } from '../server/test/browser/stored-day.ts'
import { startService } from '../server/test/browser/service-process.ts'
import type { ServiceProcess } from '../server/test/browser/service-process.ts'
import type { AgentCase } from '../src/cases/agent-case.ts'
import type { PageAnswers } from '../server/src/page/answers.ts'
import { percent } from '../server/page/src/format.ts'
import { chatRequests } from './fixtures/chat.ts'
import { startMcp } from './fixtures/mcp-client.ts'
import type { McpSession } from './fixtures/mcp-client.ts'
import { CANARY, hostileFiles, hostileNames } from './fixtures/hostile-runs.ts'
import { runCommand } from './fixtures/run-command.ts'

const root = resolve(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'spanscore-mcp-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const TOOLS = ['now', 'why', 'runs', 'run', 'conversation', 'compare', 'scorers', 'doctor']
const ofFaithfulness = (scores: readonly unknown[] = []) => JSON.stringify(scores).includes('faithfulness')
const share = (value: number) => Number.parseFloat(percent(value))

describe('the tools, on the page of a service', () => {
  let service: ServiceProcess
  let mcp: McpSession
  const read = <Path extends keyof PageAnswers>(path: Path, query: Readonly<Record<string, string>> = {}) =>
    service.read<PageAnswers[Path]>(`${path}?${new URLSearchParams(query).toString()}`)

  beforeAll(async () => {
    const data = join(folder, 'day')
    mkdirSync(data, { mode: 0o700 })
    await saveDay(data, Date.now())
    service = await startService(data, {})
    mcp = await startMcp(['--page', service.origin, '--token-file', join(data, 'page-token')])
  }, 120_000)
  let isGone = false
  const stop = async () => {
    if (!isGone) await service?.[Symbol.asyncDispose]()
    isGone = true
  }
  afterAll(async () => {
    await mcp?.[Symbol.asyncDispose]()
    await stop()
  })

  it('only read, and have schemas for what they take and give', async () => {
    const { tools } = await mcp.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(TOOLS)
    for (const { annotations, inputSchema, outputSchema } of tools) {
      expect(annotations?.readOnlyHint).toBe(true)
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
      expect(outputSchema).toMatchObject({ type: 'object', properties: { says: { type: 'string' } } })
    }
  })

  it('say which agent got worse, since when and by what, with the figures of the page', async () => {
    const { fields, text } = await mcp.call('now')
    const page = await read('/api/now')
    expect(text).toMatch(/^"support-agent" got worse about \S+Z: "faithfulness" fails \d+ % of \d+, before \d+ %\.$/)
    expect(fields.says).toBe(text)
    expect(fields.link).toBe(`${service.origin}/`)
    expect(fields.now).toMatchObject({ runs: page.now.runs, failing: share(page.now.failed / page.now.judged) })
    expect(fields.rows.map(({ agent }: { agent: string }) => agent)).toEqual(page.rows.map(({ agent }) => agent))
    const cell = page.rows[0]!.cells.find(({ scorer }) => scorer === 'faithfulness')
    expect(fields.attacks).toEqual(page.attacks)
    expect(fields.rows[0].cells[0]).toEqual({
      scorer: 'faithfulness',
      state: 'worse',
      runs: cell!.runs,
      fails: share(cell!.failing.mean),
      interval: cell!.failing.interval95.map(share),
      before: share(cell!.change!.before),
      change: cell!.change!.interval95.map(share),
      since: new Date(cell!.sinceMs!).toISOString().replace('.000Z', 'Z'),
    })
    const one = await mcp.call('now', { agent: 'trip-agent', hours: 48 })
    expect(one.fields.rows).toMatchObject([{ agent: 'trip-agent' }])
    expect(one.text).toContain('Nothing got worse')
  })

  it('have the runs of which spanscore cases --page makes the cases of the page, the worst first', async () => {
    const token = ['--token-file', join(folder, 'day/page-token')]
    const made = await runCommand(['cases', '--page', service.origin, ...token, '--top', '3'], {})
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('3 cases')])
    const cases = made.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as AgentCase)
    expect(cases).toHaveLength(3)
    for (const { runId, wrong, ...rest } of cases) {
      const shown = await service.read<AgentCase>(`/api/case?id=${runId}`)
      expect({ ...rest, wrong: wrong.map(({ scorer }) => scorer) }).toEqual({
        ...rest,
        id: shown.id,
        input: shown.input,
        answered: shown.answered,
        wrong: shown.wrong.map(({ scorer }) => scorer),
      })
    }
    const both = await runCommand(['cases', 'a.jsonl', '--page', service.origin, ...token], {})
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('--page: expected neither files nor --from')])
    const none = await runCommand(['cases', '--page', service.origin, ...token, '--since', '1s'], {})
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('no run of the page since 1s')])
  })

  it('say what the failing runs have in common, and what changed', async () => {
    const now = await mcp.call('now')
    const { since } = now.fields.rows[0].cells[0]
    const { fields, text } = await mcp.call('why', { agent: 'support-agent', scorer: 'faithfulness', since })
    const query = { agent: 'support-agent', scorer: 'faithfulness', fromMs: String(Date.parse(since)) }
    const { found, changes } = await read('/api/common', query)
    const [line] = found.common
    expect(text).toContain('With "failed tool = refund_order" 100 % fail')
    expect(fields).toMatchObject({ runs: found.runs, failing: found.failing, rate: share(found.rate) })
    expect(fields.before).toEqual({ runs: found.before!.runs, rate: share(found.before!.rate) })
    expect(fields.common[0]).toMatchObject({
      trait: 'failed tool = refund_order',
      runs: line!.runs,
      rate: share(line!.rate),
      rateWithout: share(line!.rateWithout),
      coverage: share(line!.coverage),
      examples: line!.examples,
    })
    expect(fields.began).toEqual([{ trait: 'agent version = 1.5.0', at: new Date(changes[0]!.timeMs).toISOString() }])
    const opened = await fetch(fields.link)
    expect(opened.status).toBe(200)
    const withTrait = await mcp.call('runs', { scorer: 'faithfulness', trait: fields.common[0].trait, since })
    expect(withTrait.fields.total).toBe(line!.runs)
    expect(withTrait.fields.link).toBeUndefined()
  })

  it('list runs, the worst first, and go on where they ended', async () => {
    const given = { agent: 'support-agent', scorer: 'faithfulness', label: 'fail', agentVersion: '1.5.0' }
    const page = await read('/api/runs', { ...given, sort: 'worst', limit: '200' })
    const ids: string[] = []
    const totals: unknown[] = []
    let cursor: string | undefined
    do {
      const { fields } = await mcp.call('runs', { ...given, ...(cursor !== undefined && { cursor }) })
      totals.push(fields.total)
      ids.push(...fields.runs.map(({ id }: { id: string }) => id))
      cursor = fields.next
    } while (cursor !== undefined)
    expect(ids).toEqual(page.runs.map(({ id }) => id))
    expect(totals[0]).toBe(page.total)
  })

  it('show what users disliked, and why a run failed', async () => {
    const { fields } = await mcp.call('runs', { feedback: 'disliked' })
    expect(fields.total).toBe((await read('/api/runs', { feedback: 'disliked' })).total)
    const disliked = fields.runs.find(({ failedToolCalls }: { failedToolCalls: number }) => failedToolCalls === 1)
    expect(disliked.opinions).toEqual([
      { opinion: 'disliked', name: 'thumbs', value: 0, contentComment: 'No money came.' },
    ])
    const run = await mcp.call('run', { id: disliked.id })
    expect(run.text).toBe(
      'A run of "support-agent", ok, with 2 tool calls; of 2 scores 2 fail: "faithfulness", "tool_errors".',
    )
    expect(run.fields).toMatchObject({
      id: disliked.id,
      version: '1.5.0',
      service: 'bicycle-shop',
      contentAnswer: expect.stringContaining('I have refunded 89.90 EUR to your card.'),
      scores: [
        { scorer: 'faithfulness', label: 'fail', findings: [{ about: 'claim', verdict: 'not_stated', rating: 'bad' }] },
        { scorer: 'tool_errors', label: 'fail' },
      ],
      said: [{ name: 'thumbs', by: 'user', contentLabel: 'fail', contentExplanation: 'No money came.' }],
      calls: [
        { index: 0, tool: 'find_order', status: 'ok' },
        { index: 1, tool: 'refund_order', status: 'error', contentError: 'payment service: no answer within 300 ms' },
      ],
    })
  })

  it('say whether the new version is worse', async () => {
    const { fields, text } = await mcp.call('compare', { agent: 'support-agent' })
    const query = {
      agent: 'support-agent',
      scorer: 'faithfulness',
      'before.agentVersion': '1.4.0',
      'after.agentVersion': '1.5.0',
    }
    const compared = await read('/api/compare/all', query)
    expect(text).toMatch(
      /^"1\.5\.0" against "1\.4\.0": surely more runs fail by .*"faithfulness".*; surely fewer by none\.$/,
    )
    expect(fields.scorers).toEqual(
      compared.map(({ scorer, before, after, difference }) => ({
        scorer,
        state: 'worse',
        failsBefore: share(before.failing!.mean),
        failsAfter: share(after.failing!.mean),
        difference: share(difference.mean),
        interval: difference.interval95.map(share),
        runsBefore: before.runs,
        runsAfter: after.runs,
      })),
    )
  })

  it('say what scorers mean and what alerts, and why scores are absent', async () => {
    const { fields } = await mcp.call('scorers')
    expect(fields.scorers[0]).toMatchObject({
      scorer: 'faithfulness',
      kind: 'judge',
      range: [0, 1],
      better: 'higher',
      passAt: 0.7,
    })
    expect(fields.scorers[0].meaning).toContain('claims')
    expect(fields.scorers.at(-1).alerts).toEqual(['ticket if it falls against its last weeks'])
    const doctor = await mcp.call('doctor')
    expect(doctor.fields.findings).toContainEqual({ finding: 'configured, without scores', scorer: 'answer_present' })
  })

  it('show conversations turn by turn', async () => {
    const given = { scorer: 'resolution', label: 'fail' } as const
    const page = await read('/api/conversations', given)
    const { conversations } = (await mcp.call('conversation', given)).fields
    const ids = conversations.map(({ id }: { id: string }) => id)
    expect(ids).toEqual(page.conversations.slice(0, ids.length).map(({ id }) => id))
    const [{ key, turns }] = conversations
    const { fields, text } = await mcp.call('conversation', { key })
    const thread = await read('/api/conversation', { key })
    expect(fields.turns).toHaveLength(turns)
    expect(fields.turns[0].contentUser).toBe(thread.turns[0]!.user)
    expect(fields.scores[0]).toMatchObject({ scorer: 'resolution', label: 'fail' })
    expect(text).toContain('of 1 score 1 fails: "resolution"')
    const run = await mcp.call('run', { id: fields.turns[0].runs[0].id })
    expect(run.fields.conversation).toBe(key)
    expect((await mcp.call('why', { scorer: 'resolution' })).text).toContain('choose a scorer of runs')
  })

  it.each([
    [
      'now',
      { agent: 'suport-agent' },
      'agent: there is none of the name "suport-agent". Did you mean "support-agent"?',
    ],
    ['why', { scorer: 'kindness' }, 'scorer: there is none of the name "kindness". There are "'],
    ['why', { since: 'yesterday' }, 'since, until: expected a time such as 24h'],
    ['runs', { agnet: 'x' }, 'Unrecognized key: "agnet"'],
    ['runs', { label: 'bad' }, 'expected one of "fail"|"pass"|"none"'],
    ['runs', { cursor: 'x' }, 'cursor: expected next of an answer with the same arguments, got x'],
    ['now', { cursor: '99' }, 'cursor: expected next of an answer with the same arguments'],
    ['now', { hours: 0 }, 'expected number to be >=1'],
    ['run', {}, 'expected string, received undefined'],
    ['run', { id: 'none' }, 'There is no such run; it may have been deleted because of its age.'],
    ['conversation', { key: 'none' }, 'There is no such conversation'],
    ['compare', { before: '9' }, 'before, after: expected two versions with scores, of "1.5.0", "1.4.0"'],
  ])('refuse what %s cannot answer: %j', async (tool, given, expected) => {
    const { isError, text } = await mcp.call(tool, given)
    expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining(expected) })
  })

  it('show only scores that everybody may see, also after somebody has labelled them', async () => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${service.token}` }
    const send = (path: string, body: unknown) =>
      fetch(service.origin + path, { method: 'POST', headers, body: JSON.stringify(body) })
    const { scorers } = await read('/api/overview')
    const drawn = { scorer: 'faithfulness', version: scorers.find(({ scorer }) => scorer === 'faithfulness')!.version }
    await send('/api/labels/draw', { ...drawn, count: 5 })
    const query = new URLSearchParams({ ...drawn, labeller: 'ada' }).toString()
    const { waiting } = await service.read<{ waiting: { runId: string }[] }>(`/api/labels?${query}`)
    const [{ runId }] = waiting as [{ runId: string }]
    await send('/api/labels', { ...drawn, runId, labeller: 'ada', label: 'fail', note: CANARY })
    // On the page, somebody without a name sees the score now.
    expect(ofFaithfulness((await read('/api/run', { id: runId })).scores)).toBe(true)
    const { fields } = await mcp.call('run', { id: runId })
    expect(ofFaithfulness(fields.scores)).toBe(false)
    expect(fields.hidden).toEqual([{ scorer: 'faithfulness' }])
    expect(JSON.stringify(fields)).not.toContain(CANARY)
    expect((await mcp.call('runs', { scorer: 'faithfulness' })).text).toContain('5 scores wait for labels of people')
  })

  it('offer a prompt that says in which order they help', async () => {
    const { messages } = await mcp.client.getPrompt({ name: 'investigate', arguments: { agent: 'a\nb' } })
    const { text } = messages[0]!.content as { text: string }
    expect(text.split('\n')).toHaveLength(5)
    expect(text).toContain('why "a[U+000A]b" fails')
  })

  it('say that the page is gone, and live', async () => {
    await stop()
    const gone = await mcp.call('now')
    expect(gone).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^The page at \S+ does not answer \(ECONNREFUSED\)/),
    })
    expect(await mcp.client.listTools()).toMatchObject({ tools: { length: TOOLS.length } })
  })
})

describe('a page', () => {
  const answers = new Map<string, (response: ServerResponse) => void>()
  let origin: string
  const asked: (string | undefined)[] = []
  const page = createServer((request, response) => {
    asked.push(request.url)
    answers.get('now')?.(response)
  })
  let mcp: McpSession
  beforeAll(async () => {
    page.listen(0, '127.0.0.1')
    await once(page, 'listening')
    origin = `http://127.0.0.1:${(page.address() as AddressInfo).port}`
    mcp = await startMcp(['--page', `${origin}/`], { environment: { SPANSCORE_PAGE_TOKEN: 'secret' } })
  })
  afterAll(async () => {
    await mcp?.[Symbol.asyncDispose]()
    page.close()
  })

  it.each([
    [
      'of another version is refused by name',
      (response: ServerResponse) =>
        response.setHeader('content-type', 'application/json').end('{"version":"0.0.7","agents":[]}'),
      'The page is of spanscore 0.0.7, this command of',
    ],
    [
      'of a sign-on is named',
      (response: ServerResponse) => response.setHeader('content-type', 'text/html').end('<html>Log in</html>'),
      'got 200 text/html: perhaps a sign-on',
    ],
    [
      'that redirects is not followed',
      (response: ServerResponse) => response.writeHead(302, { location: '/login' }).end(),
      "Expected the page's own answer",
    ],
    [
      'that refuses the token says where it is',
      (response: ServerResponse) =>
        response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"no"}'),
      'refuses the token; the right one is in page-token',
    ],
    [
      'that breaks off is said',
      (response: ServerResponse) =>
        response.writeHead(200, { 'content-length': '10' }).write('{', () => response.destroy()),
      'does not answer',
    ],
  ])('%s', async (_title, answer, expected) => {
    answers.set('now', answer)
    asked.length = 0
    const { isError, text } = await mcp.call('now')
    expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining(expected) })
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatch(/^\/api\/overview\?labeller=mcp/)
  })
})

describe('the tools, on files', () => {
  const scores = join(folder, 'scores.jsonl')
  const chats = join(folder, 'chats.jsonl')
  const sample = join(root, 'cli/sample/traces.jsonl')
  beforeAll(async () => {
    const config = join(root, 'cli/sample/spanscore.config.mjs')
    spawnSync(process.execPath, [join(root, 'cli/dist/main.js'), 'score', sample, '--config', config, '--out', scores])
    const turns = [
      { user: 'Hi', answer: 'Hello.', tools: [{ name: 'greet', fails: true }] },
      { user: 'Bye', answer: 'Bye.' },
    ]
    writeFileSync(
      chats,
      chatRequests(turns, { id: 'short' })
        .map((each) => `${JSON.stringify(each)}\n`)
        .join(''),
    )
  })

  it.each([1, 2] as const)('answer each, with the client of line %i', async (line) => {
    await using mcp = await startMcp([sample, scores, chats], { line })
    expect('getProtocolEra' in mcp.client ? mcp.client.getProtocolEra() : 'legacy').toBe(
      line === 1 ? 'legacy' : 'modern',
    )
    await mcp.ready()
    const now = await mcp.call('now')
    expect(now.text).toMatch(/^\d agents; files have no period before to compare with\.$/)
    expect(now.fields.before).toBeUndefined()
    expect(now.fields.link).toBeUndefined()
    const scorers = (await mcp.call('scorers')).fields.scorers
    expect(scorers.map(({ scorer }: { scorer: string }) => scorer)).toContain('tool_errors')
    const runs = await mcp.call('runs', { scorer: 'tool_errors', label: 'fail' })
    expect(runs.fields.total).toBeGreaterThan(0)
    const run = await mcp.call('run', { id: runs.fields.runs[0].id })
    expect(run.fields.scores[0]).toMatchObject({ label: 'fail' })
    expect((await mcp.call('why')).text).toContain('Too few fail to say why')
    expect((await mcp.call('runs', { feedback: 'any' })).text).toContain('These files hold no feedback.')
    expect((await mcp.call('compare')).isError).toBe(true)
    const [{ key }] = (await mcp.call('conversation')).fields.conversations
    expect((await mcp.call('conversation', { key })).fields.turns[0].runs[0].calls).toEqual([
      { name: 'greet', status: 'error' },
    ])
    const doctor = await mcp.call('doctor')
    expect(doctor.fields.source).toEqual(
      [sample, scores, chats].map((file) => expect.stringContaining(file.slice(0, 20))),
    )
    expect(doctor.fields.findings).toContainEqual({ finding: 'no feedback of users in these files' })
  })

  it('say how far reading is, and what went wrong, and read again', async () => {
    const pipe = join(folder, 'pipe.jsonl')
    await using mcp = await startMcp([pipe])
    const missing = await mcp.call('now')
    // The file is looked at after the client has connected.
    const said = missing.text.includes('still being read') ? await mcp.call('now') : missing
    expect(said).toMatchObject({
      isError: true,
      text: expect.stringMatching(/could not be read: cannot read .*: no such file. They are being read again/),
    })
    execFileSync('mkfifo', [pipe])
    await expect.poll(async () => (await mcp.call('now')).text).toContain('The runs are still being read: 0 by now.')
    writeFileSync(pipe, readFileSync(sample))
    await mcp.ready()
    expect((await mcp.call('doctor')).fields.runs).toBe(8)
  })

  it('say why there are no runs', async () => {
    const none = join(folder, 'none.jsonl')
    const span = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', name: 'GET' }
    writeFileSync(none, JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }))
    await using mcp = await startMcp([none])
    await mcp.ready()
    await expect.poll(async () => (await mcp.call('doctor')).text).toContain('no agent runs in 1 span')
  })
})

describe('texts of strangers', () => {
  const files = hostileFiles(folder)
  const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/u

  it('are only in fields for content, and names are on one line', async () => {
    await using mcp = await startMcp(files)
    const answers = await answersOf(mcp)
    const texts = answers.flatMap(({ text, fields }) => [['', text] as const, ...textsIn(fields)])
    expect(
      texts.filter(([field, text]) => field.startsWith('content') && text.includes(CANARY)).length,
    ).toBeGreaterThan(20)
    const others = texts.filter(([field]) => !field.startsWith('content'))
    expect(others.filter(([, text]) => text.includes(CANARY))).toEqual([])
    expect(others.filter(([, text]) => INVISIBLE.test(text))).toEqual([])
    const sentences = new Set(['', 'says', 'meaning', 'toRecord'])
    expect(others.filter(([field, text]) => !sentences.has(field) && text.length > 80)).toEqual([])
    expect(answers.filter(({ bytes }) => bytes > 8192 + 100)).toEqual([])
    expect(answers.filter(({ isError, text }) => isError && !text.startsWith('before, after'))).toEqual([])
  })

  it('are absent with --no-content', async () => {
    await using mcp = await startMcp([...files, '--no-content'])
    const answers = await answersOf(mcp)
    expect(JSON.stringify(answers)).not.toContain(CANARY)
    expect(
      answers
        .flatMap(({ fields }) => textsIn(fields))
        .filter(([field, text]) => field.startsWith('content') || text.startsWith('content')),
    ).toEqual([])
  })

  it('do not keep a name that is shown in another form from being asked for', async () => {
    await using mcp = await startMcp(files)
    await mcp.ready()
    const { fields } = await mcp.call('now')
    const shown: string[] = fields.rows.map(({ agent }: { agent: string }) => agent)
    expect(new Set(shown).size).toBe(hostileNames.length)
    for (const agent of shown) expect((await mcp.call('runs', { agent })).fields.total).toBeGreaterThan(0)
  })

  it('and many calls are cut, and every call can be had', async () => {
    await using mcp = await startMcp(files)
    await mcp.ready()
    const { fields } = await mcp.call('runs', { text: 'longest' })
    const { id } = fields.runs[0]
    const seen: number[] = []
    let cursor: string | undefined
    do {
      const run = await mcp.call('run', { id, ...(cursor !== undefined && { cursor }) })
      expect(run.bytes).toBeLessThanOrEqual(8192 + 100)
      seen.push(...run.fields.calls.map(({ index }: { index: number }) => index))
      cursor = run.fields.next
    } while (cursor !== undefined)
    expect(seen).toEqual(Array.from({ length: 200 }, (_, index) => index))
  })
})

/** Every answer that the hostile runs give. */
async function answersOf(mcp: McpSession) {
  await mcp.ready()
  const answers = await Promise.all(TOOLS.filter((tool) => tool !== 'run').map((tool) => mcp.call(tool)))
  const runs = await mcp.call('runs', { scorer: 'judge' })
  const ids: string[] = runs.fields.runs.map(({ id }: { id: string }) => id)
  const [{ key }] = (await mcp.call('conversation')).fields.conversations
  const more = await Promise.all([
    ...ids.map((id) => mcp.call('run', { id })),
    mcp.call('conversation', { key }),
    mcp.call('runs', { feedback: 'commented' }),
    mcp.call('why', { scorer: 'judge' }),
  ])
  return [...answers, runs, ...more]
}

function textsIn(value: unknown, field = ''): readonly (readonly [field: string, text: string])[] {
  if (typeof value === 'string') return [[field, value]]
  if (Array.isArray(value)) return value.flatMap((each) => textsIn(each, field))
  return Object.entries(Object(value)).flatMap(([key, each]) => [['', key] as const, ...textsIn(each, key)])
}

it.each([
  [[], 'expected one of --page, --from and files, got none'],
  [['a.jsonl', '--page', 'http://127.0.0.1:1'], 'got several'],
  [['--page', 'http://127.0.0.1:1'], 'it in page-token in its data folder (--data)'],
  [['--page', 'http://127.0.0.1:1', '--token-file', '/nowhere/token'], '--token-file: ENOENT'],
  [['--page', 'http://127.0.0.1:1/#token=abc'], 'expected the address without its token'],
  [
    ['--page', 'localhost:4320'],
    '--page: expected the address of the page, such as http://127.0.0.1:4320, got localhost:4320',
  ],
  [['-'], 'standard input belongs to the protocol'],
])('does not start with %j', async (args, expected) => {
  const { code, stderr } = await runCommand(['mcp', ...args])
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(expected) })
})
