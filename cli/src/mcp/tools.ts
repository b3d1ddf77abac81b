import { z } from 'zod'

import { plural } from '../../../server/page/src/format.ts'
import { findingsOf } from '../../../server/page/src/parts/findings.ts'
import type { ShownEvaluation } from '../../../server/src/page/shown-evaluation.ts'
import type { Now } from '../../../server/src/page/store/now.ts'
import type { ListedScore } from '../../../server/src/page/store/run-list.ts'
import type { ShownScorer } from '../../../server/src/page/trials.ts'
import { createPrebuilt, prebuiltScorers } from '../../../src/scorers/all.ts'
import type { Trait } from '../../../src/traits/trait.ts'
import { UsageError } from '../usage-error.ts'
import { isoTime, percentOf } from './fields.ts'
import { argument, chosenScorer, filters, queryOf, tool } from './tool.ts'
import type { Asked, Tool } from './tool.ts'

const FIGURES = 'runs:number failing:share errors:share p95Ms:number usd:number dislikes:number opinions:number'
const TRAIT = 'trait contentTrait@contentTrait'
const OPINIONS = 'opinions[ opinion name value:number contentComment ]'
const MARKS = 'scores[ scorer label reason value:number ]'
const SCORES = `scores[ scorer@scorer/id label@score/label value:number@score/value reason@score/reason code@score/code judge@judge/model
  contentExplanation@score/explanation contentMessage@score/message findings[ about verdict rating in@places/0/in index:number@places/0/index
  contentPath@places/0/path contentText contentReason ] ]`

/** The tools, in the order in which they help. */
export const TOOLS: Readonly<Record<string, Tool>> = {
  now: tool(
    'Start here: which agent got worse, by which scorer, since when. Agents, the worst first, with the share of runs that each scorer fails, and its change since the period before; worse or better if the whole interval of the change is, few below 20 runs.',
    {
      hours: z.int().min(1).max(744).optional().describe('the period, 24 by default; the one before is as long'),
      agent: argument('only this agent, with all its scorers'),
    },
    `from:time@fromMs to:time@toMs now{ ${FIGURES} } before{ ${FIGURES} } attacks[ scorer attacked:number obeyed:number ]
      rows[ agent agents:number runs:number errors:number usd:number dislikes:number opinions:number
      cells[ scorer state runs:number fails:share@failing/mean interval:shares@failing/interval95 before:share@change/before change:shares@change/interval95 since:time@sinceMs ] ]`,
    async ({ hours, agent }, asked) => {
      const { page, overview } = asked
      const answer = await page.ask('/api/now', { hours })
      // As on the page. Scorers of conversations come last, because these have no traits.
      const levels = new Map(overview.scorers.map(({ scorer, level }) => [scorer, level]))
      const order = badFirst(answer.scorers, (scorer) => levels.get(scorer) !== 'conversation')
      const rows = answer.rows
        .filter((row) => agent === undefined || row.agent === agent)
        .map((row) => ({
          ...row,
          cells: order.flatMap((scorer) => row.cells.filter((cell) => cell.scorer === scorer)),
        }))
      const [now, before] = [answer.now, answer.before].map((sums) => {
        return sums && { ...sums, failing: sums.failed / sums.judged, errors: sums.errors / sums.runs }
      })
      const shown = agent === undefined ? rows.map((row) => ({ ...row, cells: row.cells.slice(0, 5) })) : rows
      // Totals and attacks are those of all agents.
      const all = agent === undefined ? { ...answer, now, before } : { fromMs: answer.fromMs, toMs: answer.toMs }
      const value = { ...all, rows: shown }
      return { says: headline({ ...answer, rows }, asked), link: page.link('/', {}), value, list: 'rows' }
    },
  ),

  why: tool(
    'What the failing runs of a scorer have in common that others lack, and what changed: versions, prompts, tools, models. Give agent, a scorer of runs and since as now shows them; conversations have no traits. rate and rateWithout: the share that fails with the trait, and without; coverage: the share of the failing runs that have it.',
    { scorer: argument('by default the one that fails most'), ...filters },
    `scorer runs:number failing:number rate:share before{ runs:number rate:share } common[ ${TRAIT} runs:number failing:number rate:share rateWithout:share rateBefore:share
      coverage:share sameRuns[ ${TRAIT} ] and{ ${TRAIT} runs:number rate:share rateWithout:share } examples:names ] left{ runs:number rate:share }
      began[ ${TRAIT} at:time@timeMs ] changed[ ${TRAIT} from:share to:share ] needed:number sampledFrom:number withoutTraits:number`,
    async ({ scorer: given, ...chosen }, { page, overview, quote }) => {
      const scorer = chosenScorer(overview, given, true)
      const { query, address } = queryOf(chosen)
      const answer = await page.ask('/api/common', { ...query, scorer })
      const { rate, runs, before, needed } = answer.found
      const common = answer.found.common.map(({ traits: [trait, ...same], and, ...line }) => {
        return {
          ...line,
          ...traitFields(trait),
          sameRuns: same.map(traitFields),
          and: and && { ...and, ...traitFields(and.trait) },
        }
      })
      const [first] = common
      const was = before === undefined ? '' : `, before ${percentOf(before.rate)} % of ${before.runs}`
      const most =
        first &&
        `With ${quote(first.trait)} ${percentOf(first.rate)} % fail, without ${percentOf(first.rateWithout)} %.`
      const nothing =
        answer.isTooFew || needed !== undefined
          ? 'Too few fail to say why.'
          : 'They have nothing in common that spans record.'
      const began = answer.changes.map((change) => ({ ...change, ...traitFields(change) }))
      const changed = answer.changed.map((change) => ({ ...change, ...traitFields(change.trait) }))
      const says = `${quote(scorer)} fails ${percentOf(rate)} % of ${plural(runs, 'run')}${was}. ${most ?? nothing}`
      const value = { ...answer, ...answer.found, scorer, common, began, changed }
      return { says, link: page.link('/why', address && { ...address, scorer }), value }
    },
  ),

  runs: tool(
    'Runs by filters: with a scorer the worst first, else the newest. Each with question, answer, scores, and what users said of it. sort worst without a scorer lists the runs that most scorers fail.',
    {
      scorer: argument(),
      label: z.enum(['fail', 'pass', 'none']).optional().describe('of the scorer'),
      feedback: z.enum(['any', 'disliked', 'liked', 'commented']).optional().describe('what users said'),
      status: z.enum(['ok', 'error', 'aborted', 'waiting', 'unknown']).optional(),
      agentVersion: argument(),
      model: argument(),
      conversation: argument('its id or key'),
      text: argument('words of question, answer, tools or errors'),
      sort: z.enum(['worst', 'newest', 'longest', 'dearest']).optional(),
      minSeconds: z.number().optional(),
      minUsd: z.number().optional(),
      ...filters,
    },
    `total:number runs[ id agent version@agent_version status ended:time@end_ms toolCalls:number@tool_calls failedToolCalls:number@failed_tool_calls
      contentQuestion contentAnswer ${MARKS} ${OPINIONS} ]`,
    async (input, { page, overview, quote, after }) => {
      const { scorer, feedback } = input
      const about = overview.scorers.find((each) => each.scorer === scorer)
      // Scores that an application made have no place in a range.
      const { query, address } = queryOf({ ...input, sort: input.sort ?? (about?.range ? 'worst' : 'newest') })
      const { runs, total, withheld, next } = await page.ask('/api/runs', { ...query, after, limit: 12 })
      const says = [
        `${total === undefined ? 'More runs' : plural(total, 'run')}${scorer === undefined ? '' : ` by ${quote(scorer)}`}, the ${query['sort']} first.`,
        ...(withheld > 0 ? [`${plural(withheld, 'score')} wait for labels of people, and are hidden.`] : []),
        ...(about?.level === 'conversation' ? ['It scores conversations: ask conversation.'] : []),
        ...(feedback && total === 0 && overview.files ? ['These files hold no feedback.'] : []),
      ]
      return { says: says.join(' '), link: page.link('/runs', address), value: { runs, total }, list: 'runs', next }
    },
  ),

  run: tool(
    'One run: question, answer, tool calls, scores with explanations and findings, what users said, and what its spans lack, with the setting that records it. Its cursor is the index of the first call to show.',
    { id: z.string().min(1).max(200).describe('as other tools show it') },
    `id agent@agent/name version@agent/version service@resource/service.name status started:time@startTimeMs ended:time@endTimeMs models:names usd:number complete:flag
      isOpen:flag conversation startedBy contentQuestion@userInput contentAnswer@output contentError@error/message ${SCORES} hidden[ scorer ]
      said[ name@scorerId by@evaluatorType call:number@toolCall value:number contentLabel contentExplanation ] missing[ what why toRecord@switch ]
      children[ id agent@agent/name status ]
      calls[ index:number tool@name status startedRun@childRunId contentArguments contentResult contentError@error/message ]`,
    async ({ id }, { page, quote }) => {
      const { run, isOpen, ...answer } = await page.ask('/api/run', { id })
      const isOwn = ({ runId }: { readonly runId: string }) => runId === run.id
      const scores = shownScores(answer.scores.filter(isOwn).map((each) => each.evaluation))
      const calls = run.toolCalls.map((call, index) => ({ ...call, index }))
      const value = {
        ...run,
        scores,
        calls,
        said: answer.said.filter(isOwn),
        hidden: answer.withheld.filter(isOwn),
        startedBy: answer.stored?.parent_id ?? run.parent?.runId,
        conversation: answer.conversation?.key,
        usd: answer.stored?.cost_usd,
        isOpen: isOpen || undefined,
      }
      const says = `A run of ${quote(run.agent.name ?? '')}, ${run.status}, with ${plural(calls.length, 'tool call')}; ${verdictsOf(scores, quote)}.`
      return { says, link: page.link(`/runs/${encodeURIComponent(id)}`, {}), value, list: 'calls' }
    },
  ),

  conversation: tool(
    'With key, one conversation turn by turn, with its scores; without, the conversations by filters, the worst first.',
    {
      key: argument('as run or the list shows it'),
      scorer: argument('one of conversations'),
      label: z.enum(['fail', 'pass']).optional(),
      ...filters,
    },
    `id service complete:flag ${SCORES} conversations[ key id agent turns:number status ended:time@end_ms contentQuestion contentAnswer ${MARKS} ]
      turns[ index:number contentUser runs[ id agent status contentOutput contentError@error/message calls[ name status ] ${MARKS} ${OPINIONS} ] ]`,
    async ({ key, ...chosen }, { page, overview, quote, after }) => {
      if (key === undefined) {
        const { query, address } = queryOf(chosen)
        const { conversations, next } = await page.ask('/api/conversations', { ...query, after, limit: 12 })
        const says = `${plural(overview.conversations, 'conversation')} in all; those that fit, the worst first.`
        return {
          says,
          link: page.link('/conversations', address),
          value: { conversations },
          list: 'conversations',
          next,
        }
      }
      const thread = await page.ask('/api/conversation', { key })
      const scores = shownScores(thread.scores.map((each) => each.evaluation))
      const turns = thread.turns.map((turn, index) => ({ ...turn, index }))
      const says = `A conversation of ${plural(turns.length, 'turn')} with ${quote(thread.agents[0] ?? '')}; ${verdictsOf(scores, quote)}.`
      const link = page.link(`/conversations/${encodeURIComponent(key)}`, {})
      return { says, link, value: { ...thread, scores, turns }, list: 'turns' }
    },
  ),

  compare: tool(
    'Whether a version of the agents is worse than the one before, by all scorers: the shares of runs that fail, and their difference with its 95 % interval; worse or better if the whole interval is.',
    {
      before: argument('one of sides; by default the two latest versions'),
      after: argument(),
      by: z.enum(['version', 'model']).optional(),
      agent: filters.agent,
      service: filters.service,
      trait: filters.trait,
    },
    `before after scorers[ scorer state failsBefore:share@before/failing/mean failsAfter:share@after/failing/mean difference:share@difference/mean
      interval:shares@difference/interval95 runsBefore:number@before/runs runsAfter:number@after/runs ] sides[ name@value runs:number ]`,
    async ({ by = 'version', before, after, ...chosen }, { page, overview, quote }) => {
      const { query, address } = queryOf(chosen)
      const [scorer, way] = [chosenScorer(overview, undefined), by === 'model' ? by : 'agentVersion'] as const
      const sides = (await page.ask('/api/sides', { ...query, scorer }))[way].slice(0, 20)
      const names = sides.map(({ value }) => value)
      // The latest comes first.
      const [late = '', old = ''] = [after ?? names[0], before ?? names[1]]
      if (late === old || !names.includes(late) || !names.includes(old)) {
        const known = names.slice(0, 8).map(quote).join(', ') || 'which there are none'
        throw new UsageError(`before, after: expected two ${by}s with scores, of ${known}`)
      }
      const both = { [`before.${way}`]: old, [`after.${way}`]: late }
      const scorers = await page.ask('/api/compare/all', { ...query, ...both, scorer })
      const those = (state: string) => scorers.filter((each) => each.state === state).map((each) => quote(each.scorer))
      const [worse, better] = [those('worse'), those('better')].map((some) => some.slice(0, 3).join(', ') || 'none')
      const says = `${quote(late)} against ${quote(old)}: surely more runs fail by ${worse}; surely fewer by ${better}.`
      const link = page.link('/compare', address && { ...address, way, before: old, after: late })
      return { says, link, value: { before: old, after: late, scorers, sides }, list: 'scorers' }
    },
  ),

  scorers: tool(
    'What each scorer means: what it looks at, what it scores (level), its range and better end, from which mark on a run passes, and what alerts.',
    {},
    'scorers[ scorer meaning level kind judge@model range:numbers better passAt:number failsAtLeast:share alerts:names ]',
    async (_input, { page, overview }) => {
      const { scorers: configured } = overview.files === undefined ? await page.ask('/api/scorers') : { scorers: [] }
      const names = new Set([...overview.scorers.map(({ scorer }) => scorer), ...configured.map(({ id }) => id)])
      const scorers = [...names].map((scorer) => {
        const set = configured.find(({ id }) => id === scorer)
        const stored = overview.scorers.find((each) => each.scorer === scorer)
        const [range, passAt] = [stored?.range ?? set?.range, stored?.passAt ?? set?.passAt]
        const ours = { range, passAt, meaning: set?.description ?? meaningOf(scorer), alerts: set && alertsOf(set) }
        return { level: 'run', ...set, ...stored, ...ours, scorer }
      })
      const says = `${plural(scorers.length, 'scorer')}, those with scores first.`
      return { says, link: page.link('/scores', {}), value: { scorers }, list: 'scorers' }
    },
  ),

  doctor: tool(
    'Why scores are absent: no runs or few, silent scorers, reasons of skipped and failed scores (ask run for the example, which says what to do), judges that are not asked.',
    {},
    'runs:number open:number source:names findings[ finding agent scorer reason runs:number example contentMessage ]',
    async (_input, { page, overview }) => {
      const { runs, open, left, judges = [], files } = overview
      const names = [...new Set(overview.scorers.map(({ scorer }) => scorer))]
      const { scorers: configured } = files === undefined ? await page.ask('/api/scorers') : { scorers: [] }
      const { unknown, now } = await page.ask('/api/now')
      const unscored = await Promise.all(names.map((scorer) => unscoredOf(scorer, page)))
      const findings = [
        ...(runs === 0
          ? [{ finding: 'no runs: npx @spanscore/cli doctor -- node app.js looks at the application' }]
          : []),
        ...(names.length === 0 ? [{ finding: 'no scores: for files, spanscore score --out makes them' }] : []),
        ...configured.flatMap(({ id }) =>
          names.includes(id) ? [] : [{ finding: 'configured, without scores', scorer: id }],
        ),
        ...judges.map((message) => ({
          finding: 'a judge gives no scores now',
          message,
        })),
        ...(left > 0 ? [{ finding: 'messages that the page left out; their scores were sent', runs: left }] : []),
        ...unknown.flatMap((fact) => {
          if (fact.kind === 'silent-scorer') {
            const { scorer, agents, reason } = fact
            const finding = fact.gaveBefore ? 'silent, but scored this agent before' : 'asked, but gave no score'
            return agents.map((agent) => ({ finding, agent, scorer, reason }))
          }
          if (fact.kind === 'nothing-before') return [{ finding: 'no earlier runs to compare with' }]
          if (fact.kind === 'drawn')
            return [{ finding: 'left out until somebody labels them', scorer: fact.scorer, runs: fact.runs }]
          return fact.agents.map((agent) => ({ finding: `fewer than ${fact.fewerThan} scored runs`, agent }))
        }),
        ...unscored.flat(),
        ...(now.opinions === 0 && files !== undefined ? [{ finding: 'no feedback of users in these files' }] : []),
      ]
      const says = `${plural(runs, 'run')}, ${plural(names.length, 'scorer')} with scores, ${plural(findings.length, 'finding')}.`
      const source = files ?? ['the page of a service']
      return { says, link: page.link('/setup', {}), value: { runs, open, source, findings }, list: 'findings' }
    },
  ),
}

/** What got worse, by the first scorer of the first agent. */
function headline({ rows, unknown, fromMs }: Now, { overview, quote }: Asked): string {
  const [worst] = rows.flatMap((row) =>
    row.cells.flatMap((cell) => (cell.state === 'worse' ? [{ ...row, ...cell }] : [])),
  )
  if (worst !== undefined) {
    const { agent, scorer, sinceMs = fromMs, failing, change, runs } = worst
    return `${agent === undefined ? 'Other agents' : quote(agent)} got worse about ${isoTime(sinceMs)}: ${quote(scorer)} fails ${percentOf(failing.mean)} % of ${runs}, before ${percentOf(change?.before ?? 0)} %.`
  }
  if (overview.files !== undefined)
    return `${plural(rows.length, 'agent')}; files have no period before to compare with.`
  return `Nothing got worse since ${isoTime(fromMs)}${unknown.length > 0 ? ', but not all is known: doctor says why' : ''}.`
}

/** Words of questions and texts of errors quote strangers, so that only their key is a name. */
const QUOTING: ReadonlySet<string> = new Set(['question word', 'error', 'tool error'])

function traitFields(trait: Trait = { key: '', value: '' }): {
  readonly trait: string
  readonly contentTrait?: string
} {
  const { key, value, isSymptom } = trait
  if (isSymptom === true) return { trait: `${key} fails, too` }
  return QUOTING.has(key) ? { trait: key, contentTrait: `${key} = ${value}` } : { trait: `${key} = ${value}` }
}

/** Evaluations with what the page shows of their findings; what is bad comes first. */
function shownScores(evaluations: readonly ShownEvaluation[]): readonly ShownEvaluation[] {
  const shown = evaluations.map((each) => {
    return { ...each, findings: badFirst(findingsOf(each), ({ rating }) => rating === 'bad') }
  })
  return badFirst(shown, ({ score }) => score.status === 'scored' && score.label === 'fail')
}

function badFirst<Item>(items: readonly Item[], isBad: (item: Item) => boolean): readonly Item[] {
  return items.toSorted((left, right) => Number(isBad(right)) - Number(isBad(left)))
}

function verdictsOf(evaluations: readonly ShownEvaluation[], quote: Asked['quote']): string {
  const labels = evaluations.flatMap(({ scorer: { id }, score }) =>
    score.status === 'scored' ? [{ id, ...score }] : [],
  )
  const fails = labels.filter(({ label }) => label === 'fail').map(({ id }) => quote(id))
  return `of ${plural(labels.length, 'score')} ${fails.length === 0 ? 'none fails' : `${fails.length} ${fails.length === 1 ? 'fails' : 'fail'}: ${fails.slice(0, 3).join(', ')}`}`
}

/** What the prebuilt scorer of this name means; `undefined` of others, which only their configuration describes. */
function meaningOf(scorer: string): string | undefined {
  const prebuilt = Object.hasOwn(prebuiltScorers, scorer) ? prebuiltScorers[scorer] : undefined
  return prebuilt && createPrebuilt(scorer, prebuilt.example).description
}

function alertsOf({ alerts = {} }: ShownScorer): readonly string[] {
  const { target, severity = 'ticket', drop = 'ticket', any = 'off' } = alerts
  const all = [`${drop} if it falls against its last weeks`, `${any} if a single run fails`]
  return [...(target === undefined ? [] : [`${severity} if below ${target}`]), ...all].filter(
    (each) => !each.startsWith('off'),
  )
}

/** The runs that a scorer gave no score, by the reason. */
async function unscoredOf(scorer: string, page: Asked['page']) {
  const { unscored } = await page.ask('/api/scores', { scorer })
  const runs = unscored.length === 0 ? [] : (await page.ask('/api/runs', { scorer, label: 'none', limit: 50 })).runs
  return unscored.map(({ reason, runs: count }) => {
    const isSo = (each: ListedScore) => each.scorer === scorer && (each.reason ?? each.status) === reason
    const example = runs.find(({ scores }) => scores.some(isSo))?.id
    return { finding: 'no score', scorer, reason, runs: count, example }
  })
}
