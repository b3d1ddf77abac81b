import { useLocation, useRoute } from 'preact-iso'

import { CALL_STATUS, hasFailed } from '../../../../src/model/call-status.ts'
import { at } from '../api.ts'
import type { Evaluation, Thread } from '../api.ts'
import { duration, headOf, plural, time } from '../format.ts'
import { useAnswer } from '../live.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { ForgetButton } from '../parts/forget-button.tsx'
import { findingsOf, wordsOf } from '../parts/findings.ts'
import type { Finding } from '../parts/findings.ts'
import { useKeys } from '../parts/keys.ts'
import { NotHere } from '../parts/not-here.tsx'
import { Opinions } from '../parts/opinions.tsx'
import { placeOf, placeOfConversation, placeOfList } from '../parts/place.ts'
import { runStatusOf } from '../parts/run-status.ts'
import { VerdictOfAll } from '../parts/verdict-of-all.tsx'
import { ScoreMarks } from '../parts/score-mark.tsx'
import { Text } from '../parts/text.tsx'
import { Verdicts } from '../parts/verdicts.tsx'
import { useService } from '../service.ts'
import { useTitle } from '../title.ts'

type ThreadTurn = Thread['turns'][number]
type ThreadRun = ThreadTurn['runs'][number]

/** One conversation: what was said, with friction at its message, and its scores with their reasons. */
export function ConversationView() {
  const { params } = useRoute()
  const { changes } = useService()
  const { back } = useLocation()
  const { value, error } = useAnswer<Thread>('/api/conversation', { key: params['key'] ?? '' }, changes)
  useKeys({ Escape: back, u: back })
  useTitle(value?.turns[0]?.user?.slice(0, 60) ?? 'Conversation')
  if (value === undefined) return <NotHere what="conversation" error={error} />
  const notes = notesOf(value)
  return (
    <article class="run">
      <Head thread={value} />
      <div class="run-columns">
        <section aria-label="Messages">
          <ol class="conversation">
            {value.earlier.length > 0 && <Earlier messages={value.earlier} />}
            {value.turns.map((turn, index) => (
              <Turn key={turn.runs[0]?.id} turn={turn} index={index} notes={notes} />
            ))}
          </ol>
        </section>
        <aside aria-label="Scores">
          <h2>Scores</h2>
          <Scores thread={value} />
          <Facts thread={value} />
        </aside>
      </div>
    </article>
  )
}

/** A finding about a message, and who found it. */
interface Note {
  readonly scorer: string
  readonly finding: Finding
}

/** What scorers found in single messages, by the first run that answers each. A file may not say which message is meant. */
function notesOf({ scores }: Thread): ReadonlyMap<string, readonly Note[]> {
  const notes = scores.flatMap(({ evaluation, turns }) =>
    findingsOf(evaluation).flatMap((finding) => {
      const place = finding.places?.find((one) => one.in === 'turn')
      const runId = place === undefined || finding.rating === 'good' ? undefined : turns[place.index ?? -1]
      return runId === undefined ? [] : [{ runId, scorer: evaluation.scorer.id, finding }]
    }),
  )
  return Map.groupBy(notes, ({ runId }) => runId)
}

function Head({ thread }: { readonly thread: Thread }) {
  const { key, id, agents, turns, revision, complete, missing, startTimeMs, endTimeMs } = thread
  const status = turns.at(-1)?.runs.at(-1)?.status ?? 'unknown'
  const [sign, tone] = runStatusOf(status)
  return (
    <header class="run-head">
      <nav aria-label="Breadcrumb">
        <a href={placeOfList('/conversations')}>Conversations</a>
      </nav>
      <h1>{headOf(turns[0]?.user ?? id)}</h1>
      <p class="run-facts">
        <VerdictOfAll evaluations={thread.scores.map(({ evaluation }) => evaluation)} />
        {status !== 'ok' && (
          <span class={`mark ${tone}`} title="the last run">
            {sign} {status}
          </span>
        )}
        {!complete && missing.length === 0 && <span class="mark warn">! incomplete</span>}
        {missing.map(({ what, why }) => (
          <span key={what + why} class="mark warn">
            ! {what} missing ({why})
          </span>
        ))}
        {agents.length > 0 && <b>{agents.join(', ')}</b>}
        <span>{plural(turns.length, 'turn')}</span>
        {revision !== turns.length && <span>{plural(revision, 'run')}</span>}
        <span>{duration(endTimeMs - startTimeMs)}</span>
        <time dateTime={new Date(startTimeMs).toISOString()}>{time(startTimeMs)}</time>
      </p>
      <p class="run-actions">
        <CopyButton text={() => Promise.resolve(location.origin + at(placeOfConversation(key)))}>Copy link</CopyButton>
        <ForgetButton person={{ conversation: key }} what="this conversation" then="/conversations" />
      </p>
    </header>
  )
}

/** What the first request repeats of the time before. */
function Earlier({ messages }: { readonly messages: readonly string[] }) {
  return (
    <li class="turn system">
      <details>
        <summary>
          <b>
            Before: {messages.length} earlier {messages.length === 1 ? 'message' : 'messages'} of the user
          </b>{' '}
          <span class="muted peek">{messages.join(' · ').slice(0, 160)}</span>
        </summary>
        <ol class="conversation">
          {messages.map((message, index) => (
            <li key={index} class="turn user">
              <Text text={message} />
            </li>
          ))}
        </ol>
      </details>
    </li>
  )
}

interface TurnProps {
  readonly turn: ThreadTurn
  readonly index: number
  readonly notes: ReadonlyMap<string, readonly Note[]>
}

function Turn({ turn: { user, runs }, index, notes }: TurnProps) {
  const own = runs.flatMap(({ id }) => notes.get(id) ?? [])
  return (
    <>
      <li class={`turn user ${own.length > 0 ? 'friction' : ''}`}>
        <h3>
          User
          <span class="facts">turn {index + 1}</span>
        </h3>
        {user === undefined ? <p class="muted">(not recorded)</p> : <Text text={user} />}
        {own.map(({ scorer, finding }, place) => (
          <p key={place} class="evidence bad note">
            <span aria-hidden="true">✗</span> {scorer}: {wordsOf(finding)}
            {finding.reason !== undefined && (
              <>
                , <bdi>{finding.reason}</bdi>
              </>
            )}
          </p>
        ))}
      </li>
      {runs.map((run) => (
        <Answer key={run.id} run={run} />
      ))}
    </>
  )
}

/** A run of the conversation: what it answered, after which tool calls. */
function Answer({ run }: { readonly run: ThreadRun }) {
  const { id, agent, output, error, status, complete, startTimeMs, endTimeMs, calls, moreCalls, scores, opinions } = run
  return (
    <li class="turn model">
      <h3>
        {agent === '' ? 'Agent' : <bdi>{agent}</bdi>}
        {status !== 'ok' && <span class={`mark ${runStatusOf(status)[1]}`}>{status}</span>}
        {!complete && <span class="mark warn">! incomplete</span>}
        <span class="facts">
          {scores.some(({ label, status: its }) => label !== null || its !== 'skipped') && (
            <ScoreMarks scores={scores} />
          )}
          <span>{duration(endTimeMs - startTimeMs)}</span>
          <a href={placeOf(id)}>Run</a>
        </span>
      </h3>
      {calls.length > 0 && (
        <p class="called" aria-label="Tools">
          {calls.map((call, place) => (
            <span
              key={place}
              class={hasFailed(call) ? 'mark fail' : 'mark none'}
              title={CALL_STATUS[call.status].words}
            >
              <span aria-label={CALL_STATUS[call.status].words}>{CALL_STATUS[call.status].sign}</span>{' '}
              <bdi class="name">{call.name}</bdi>
              {call.error !== undefined && <bdi class="name"> {call.error.message ?? call.error.type}</bdi>}
            </span>
          ))}
          {moreCalls > 0 && <span class="mark none">+{moreCalls}</span>}
        </p>
      )}
      {output !== undefined && <Text text={output} isWritten />}
      {error !== undefined && (
        <p class="problem">
          ▲ {error.type} {error.message}
        </p>
      )}
      {output === undefined && error === undefined && (
        <p class="muted">{status === 'waiting' ? 'It waits for a tool or an approval.' : '(no answer recorded)'}</p>
      )}
      {opinions.length > 0 && (
        <p class="called" aria-label="What users say">
          <Opinions opinions={opinions} isWhole />
        </p>
      )}
    </li>
  )
}

function Scores({ thread }: { readonly thread: Thread }) {
  const { overview } = useService()
  const { scores } = thread
  if (scores.length === 0) {
    return (
      <p class="muted">
        {overview.files === undefined
          ? 'No scorer of conversations has scored it. They are asked when it is over.'
          : 'The files hold no score of this conversation.'}
      </p>
    )
  }
  const since = turnsSince(thread)
  return (
    <>
      {since > 0 && <p class="note">It went on: {plural(since, 'turn')} came after these scores.</p>}
      <Verdicts evaluations={scores.map(({ evaluation }): Evaluation => evaluation)} />
    </>
  )
}

/** How many turns came after those that scorers saw. Runs of other agents than theirs may be no turns to them. */
function turnsSince({ scores, turns }: Thread): number {
  const seen = new Set(scores.flatMap((score) => score.turns))
  const last = turns.findLastIndex(({ runs }) => runs.some(({ id }) => seen.has(id)))
  if (last < 0) return 0
  const agents = new Set(
    turns.flatMap(({ runs }) => (runs.some(({ id }) => seen.has(id)) ? runs.map(({ agent }) => agent) : [])),
  )
  return turns.slice(last + 1).filter(({ runs }) => runs.some(({ agent }) => agents.has(agent))).length
}

function Facts({ thread: { id, service } }: { readonly thread: Thread }) {
  return (
    <section class="facts-of-run">
      <h2>Facts</h2>
      <dl class="small-facts">
        <dt>Id</dt>
        <dd>{id}</dd>
        {service !== '' && (
          <>
            <dt>Service</dt>
            <dd>{service}</dd>
          </>
        )}
      </dl>
    </section>
  )
}
