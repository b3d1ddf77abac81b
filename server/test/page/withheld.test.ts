import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { conversationKey } from 'spanscore/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { createApi } from '../../src/page/api.ts'
import { Ingest } from '../../src/page/ingest.ts'
import { OverviewReader } from '../../src/page/overview.ts'
import type { ApiAnswer } from '../../src/page/page-server.ts'
import { HourCounter } from '../../src/page/store/hours.ts'
import { openPageDatabase, run as execute } from '../../src/page/store/page-database.ts'
import { Trials } from '../../src/page/trials.ts'
import { RequestReader } from '../../src/receive/read-request.ts'
import { makeRun, toRequest } from '../traces.ts'
import { madeScore } from './made-score.ts'

const RUNS = 8
const START_MS = 1_700_000_000_000
/** Runs that were drawn to be labelled. The last two were asked the same question as others. */
const DRAWN = new Set([4, 5, 6, 7])
/** The drawn run that most tests of this file use. */
const SECRET = 5

const traceIdOf = (index: number) => (index + 1).toString(16).padStart(32, 'a')
const spanIdOf = (index: number) => (index + 1).toString(16).padStart(16, 'b')
const idOf = (index: number) => `${traceIdOf(index)}:${spanIdOf(index)}`
/** The time at which a run was settled. */
const settledMs = (index: number) => START_MS + index * 3_600_000

const folder = mkdtempSync(join(tmpdir(), 'spanscore-withheld-'))
const attribute = (key: string, value: string) => ({ key, value: { stringValue: value } })

/** The page of a service in which the drawn runs pass, or fail. Everything else is equal. */
async function createWorld(drawnValue: number) {
  const place = join(folder, `world-${drawnValue}`)
  mkdirSync(place)
  const database = openPageDatabase(place)
  const reader = await RequestReader.create(
    { maxSpansPerRequest: 1000, maxSpanBytes: 1_000_000 },
    { skipsOrdinary: false },
  )
  let nowMs = START_MS
  const ingest = new Ingest(database, reader, () => nowMs)
  for (let index = 0; index < RUNS; index++) {
    nowMs = settledMs(index)
    const value = DRAWN.has(index) ? drawnValue : index % 2
    const runId = idOf(index)
    // The application writes the same verdicts on its own spans.
    const verdict = [
      attribute('gen_ai.evaluation.name', 'judge'),
      attribute('gen_ai.evaluation.score.label', value >= 0.5 ? 'pass' : 'fail'),
      attribute('gen_ai.evaluation.explanation', value >= 0.5 ? 'Good.' : 'Bad.'),
    ]
    const made = makeRun({
      traceId: traceIdOf(index),
      agentSpanId: spanIdOf(index),
      text: `Question ${index % 6}?`,
    })
    const spans = made.spans.map((span, at) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- spans of `makeRun`
      const known = span as { readonly spanId: string; readonly attributes: readonly unknown[] }
      const isAgent = known.spanId === made.agentSpanId
      return {
        ...known,
        spanId: isAgent ? known.spanId : `${index + 1}${at}`.padStart(16, 'c'),
        startTimeUnixNano: `${settledMs(index) - 5}000000`,
        endTimeUnixNano: `${settledMs(index)}000000`,
        attributes: [
          ...known.attributes,
          ...(isAgent
            ? [
                attribute('spanscore.judge.label', value >= 0.5 ? 'pass' : 'fail'),
                attribute('gen_ai.conversation.id', 'all'),
              ]
            : []),
        ],
        events: [{ name: 'gen_ai.evaluation.result', timeUnixNano: `${START_MS}000000`, attributes: verdict }],
      }
    })
    const late = { ...spans[0], name: 'evaluate judge', spanId: `${index + 1}`.padStart(16, 'd'), attributes: verdict }
    const all = [...spans, late]
    ingest.take({
      kind: 'record',
      signal: 'traces',
      encoding: 'json',
      contentEncoding: '',
      body: Buffer.from(JSON.stringify(toRequest(all))),
    })
    const spanIds = all.map(({ spanId }) => spanId)
    ingest.take({ kind: 'settled', traceId: made.traceId, spanIds, lacksSpans: false, revisions: { [runId]: 1 } })
    for (const scorer of ['judge', 'other']) {
      const evaluation = madeScore(runId, { value: scorer === 'judge' ? value : 1, scorer })
      ingest.take({ kind: 'score', runId, scoreKey: 'key', evaluation: JSON.stringify(evaluation) })
    }
    if (DRAWN.has(index)) {
      execute(
        database,
        'INSERT INTO drawn (run_id, scorer, version, judged, run_seq, place) VALUES (?, ?, ?, ?, ?, ?)',
        runId,
        'judge',
        'v1',
        value >= 0.5 ? 'pass' : 'fail',
        index + 1,
        index,
      )
    }
  }
  const handle = createApi({
    database,
    hours: new HourCounter(database),
    runs: ingest,
    ingest,
    overview: new OverviewReader(database, () => nowMs),
    trials: new Trials(join(folder, 'spanscore.config.mjs'), () => undefined),
    about: () => ({ left: 0, otlpUrl: '' }),
    nowMs: () => nowMs,
    random: () => 0.5,
    forget: () => Promise.resolve({ traces: 0, runs: 0 }),
    isStuck: () => false,
  })
  const call = async (method: string, path: string, body?: unknown): Promise<string> => {
    const url = new URL(path, 'http://page')
    return textOf(await handle({ method, path: url.pathname, query: url.searchParams, body }))
  }
  return { database, call }
}

async function textOf(answer: ApiAnswer): Promise<string> {
  if ('json' in answer) return JSON.stringify(answer.json)
  let text = ''
  await answer.write((line) => {
    text += line
    return Promise.resolve()
  })
  return text
}

type World = Awaited<ReturnType<typeof createWorld>>

let worlds: readonly [World, World]
beforeAll(async () => {
  writeFileSync(
    join(folder, 'spanscore.config.mjs'),
    `import { createScorer } from 'spanscore'
     export default { scorers: [createScorer({ id: 'judge', description: 'd' }).generateScore(() => 0)] }`,
  )
  worlds = [await createWorld(0.9), await createWorld(0.1)]
  for (const { call } of worlds) {
    // Ada has labelled all drawn runs, and Bob one of them.
    for (const index of DRAWN) {
      const label = { runId: idOf(index), scorer: 'judge', version: 'v1', label: 'pass', note: 'mine' }
      await call('POST', '/api/labels', { ...label, labeller: 'ada' })
      if (index === 4) await call('POST', '/api/labels', { ...label, labeller: 'bob' })
    }
  }
})
afterAll(() => {
  for (const { database } of worlds) database.close()
  rmSync(folder, { recursive: true, force: true })
})

const run = encodeURIComponent(idOf(SECRET))
const around = `fromMs=${settledMs(SECRET)}&toMs=${settledMs(SECRET) + 1}`

/** All requests whose responses depend on a verdict, for people who may see it. */
const ways: Readonly<Record<string, readonly string[]>> = {
  'the marks of the list': ['/api/runs?'],
  'a filter by scorer': ['/api/runs?scorer=judge', `/api/runs?scorer=judge&${around}`],
  'a filter by verdict': ['/api/runs?scorer=judge&label=pass', '/api/runs?scorer=judge&label=fail'],
  'a filter by range': ['/api/runs?scorer=judge&minScore=0.5', '/api/runs?scorer=judge&maxScore=0.5'],
  'the order of the list': ['/api/runs?scorer=judge&sort=worst', '/api/runs?scorer=judge&sort=worst&limit=2'],
  'the place where a page of the list ends': ['/api/runs?scorer=judge&sort=worst&after=0.5~0'],
  'text with a verdict': ['/api/runs?text=oslo&scorer=judge&label=fail', '/api/runs?text=it&scorer=judge&sort=worst'],
  'what failing runs have in common': ['/api/common?scorer=judge', '/api/common?scorer=judge&agent=weather-agent'],
  'the sums of all': ['/api/scores?scorer=judge', '/api/scores?scorer=judge&by=agent'],
  'the sums of a single run': [`/api/scores?scorer=judge&${around}`, `/api/scores?scorer=judge&by=model&${around}`],
  'a comparison': [
    `/api/compare?scorer=judge&before.toMs=${settledMs(2)}&after.fromMs=${settledMs(2)}`,
    `/api/compare?scorer=judge&before.toMs=${settledMs(SECRET)}&after.fromMs=${settledMs(SECRET)}&after.toMs=${settledMs(SECRET) + 1}`,
  ],
  'the page of a run with its raw spans': [`/api/run?id=${run}`],
  'the conversation of all runs': [
    `/api/conversation?key=${conversationKey({ conversationId: 'all', resource: { 'service.name': 'weather-app' } })}`,
  ],
  'a run as JSON': [`/api/run.json?id=${run}`],
  'the state of labelling': ['/api/labels?scorer=judge&version=v1'],
  'the file of runs': ['/api/labels/runs?scorer=judge'],
}

/** Requests whose responses must not depend on the verdict for anybody. */
const silent: Readonly<Record<string, readonly string[]>> = {
  'runs that are not scored': ['/api/runs?scorer=judge&label=none'],
  'words of an explanation': ['/api/runs?text=because&scorer=other', '/api/runs?text=good&scorer=other'],
  'what there is to choose from': ['/api/overview?', '/api/sides?scorer=judge'],
  'the list of conversations': ['/api/conversations?'],
  'server-sent events': ['/api/live?'],
}

describe('a verdict that is withheld makes no difference to', () => {
  it.each([...Object.entries(ways), ...Object.entries(silent)])('%s', async (_name, paths) => {
    for (const path of paths) {
      const [pass, fail] = await Promise.all(worlds.map(({ call }) => call('GET', `${path}&labeller=carl`)))
      expect(pass).toBe(fail)
      expect(pass).not.toBe('')
    }
  })

  it('responses to a person who has labelled another run', async () => {
    for (const path of [`/api/run?id=${run}`, `/api/scores?scorer=judge&${around}`, `/api/run.json?id=${run}`]) {
      const [pass, fail] = await Promise.all(worlds.map(({ call }) => call('GET', `${path}&labeller=bob`)))
      expect(pass).toBe(fail)
    }
  })
})

describe('a verdict is shown to people who have labelled the run by', () => {
  it.each(Object.entries(ways))('%s', async (_name, paths) => {
    const differences = await Promise.all(
      paths.map(async (path) => {
        const [pass, fail] = await Promise.all(worlds.map(({ call }) => call('GET', `${path}&labeller=ada`)))
        return pass !== fail
      }),
    )
    expect(differences).toContain(true)
  })
})

it('is not scored again before it is labelled', async () => {
  const [{ call }] = worlds
  const body = { scorer: 'judge', runIds: [idOf(0), idOf(SECRET)] }
  expect(JSON.parse(await call('POST', '/api/trials/estimate?labeller=carl', body))).toMatchObject({ runs: 1 })
  const trials = async (labeller: string) => {
    const lines = (await call('POST', `/api/trials?labeller=${labeller}`, body)).trim().split('\n')
    const results = lines.map((line) => JSON.parse(line) as { runId: string; evaluation?: unknown })
    return new Map(results.map(({ runId, evaluation }) => [runId, evaluation !== undefined]))
  }
  expect([...(await trials('carl'))].toSorted()).toEqual([
    [idOf(0), true],
    [idOf(SECRET), false],
  ])
  expect((await trials('ada')).get(idOf(SECRET))).toBe(true)
})

it('states how many scores are left out, and withholds the files until there are none', async () => {
  const [{ call }] = worlds
  for (const path of ['/api/runs?scorer=judge', '/api/scores?scorer=judge', '/api/compare?scorer=judge']) {
    expect(JSON.parse(await call('GET', `${path}&labeller=carl`))).toMatchObject({ withheld: 4 })
    expect(JSON.parse(await call('GET', `${path}&labeller=bob`))).toMatchObject({ withheld: 3 })
    expect(JSON.parse(await call('GET', `${path}&labeller=ada`))).toMatchObject({ withheld: 0 })
  }
  const ofView: [string, number][] = [
    ['/api/runs?scorer=judge&agent=somebody', 0],
    ['/api/runs?scorer=judge&text=somebody', 0],
    [`/api/runs?scorer=judge&${around}`, 1],
    ['/api/runs?scorer=judge&label=none', 4],
    ['/api/scores?scorer=judge&agent=somebody', 0],
    [`/api/scores?scorer=judge&${around}`, 1],
    [
      `/api/compare?scorer=judge&before.agent=somebody&after.toMs=${settledMs(SECRET) + 1}`,
      [...DRAWN].filter((index) => index <= SECRET).length,
    ],
  ]
  for (const [path, withheld] of ofView)
    expect({ path, ...JSON.parse(await call('GET', `${path}&labeller=carl`)) }).toMatchObject({ path, withheld })
  expect(await call('GET', '/api/labels/runs?scorer=judge&labeller=carl')).toContain('4 runs were drawn')
  expect(await call('GET', '/api/labels/export?scorer=judge&labeller=carl')).toContain('Others have labelled')
  expect(await call('GET', '/api/labels/export?scorer=judge&labeller=ada')).not.toContain('error')
})

it('is shown when the draw is ended', async () => {
  const { call, database } = await createWorld(0.5)
  expect(JSON.parse(await call('GET', '/api/scores?scorer=judge'))).toMatchObject({ withheld: 4, all: { runs: 4 } })
  await call('POST', '/api/labels', {
    runId: idOf(4),
    scorer: 'judge',
    version: 'v1',
    labeller: 'ada',
    label: 'pass',
    note: '',
  })
  expect(JSON.parse(await call('POST', '/api/labels/end', { scorer: 'judge', version: 'v1' }))).toEqual({ shown: 3 })
  expect(JSON.parse(await call('GET', '/api/scores?scorer=judge'))).toMatchObject({ withheld: 0, all: { runs: 8 } })
  expect(JSON.parse(await call('GET', '/api/labels?scorer=judge&version=v1&labeller=ada'))).toMatchObject({
    waiting: [],
    progress: { drawn: 1 },
  })
  database.close()
})

/** Files that read the table of scores itself, and not only the part that may be shown. */
const READERS: Readonly<Record<string, string>> = {
  'overview.ts': 'It counts scores by scorer and version, whatever they say.',
  'store/draws.ts': 'Scores are drawn by their verdict. It gives numbers that do not depend on it.',
  'store/label-files.ts': 'A label that is imported is stored with the verdict, which is given only to who may see it.',
  'store/labels.ts': 'So is a label that is given, and what waits for a label is known without its verdict.',
  'store/run-writer.ts': 'It writes scores.',
  'store/silent-scorers.ts': 'It asks whether there are scores, whatever they say.',
  'store/withheld.ts': 'It separates scores that may be shown from the others.',
}

it('is read only by queries that state their reason', () => {
  const root = join(import.meta.dirname, '../../src/page')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const readers = files.filter((file) =>
    /(?:FROM|JOIN|INTO|UPDATE) (?:scores\b|\$\{source\.table\})|SCORES_OF_RUNS|\['scores', 'conversation_scores'\]/.test(
      readFileSync(join(root, file), 'utf8'),
    ),
  )
  expect(readers.toSorted()).toEqual(Object.keys(READERS))
})
