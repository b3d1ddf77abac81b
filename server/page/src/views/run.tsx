import { useLocation, useRoute } from 'preact-iso'
import { useRef, useState } from 'preact/hooks'

import { EXAMPLE_TRACE } from '../../../src/page/example-trace.ts'
import { ask, at, send, toSearch } from '../api.ts'
import type { AgentRun, Evaluation, RunDetails, SourceSpan } from '../api.ts'
import { useService } from '../service.ts'
import { count, duration, headOf, plural, time, usd } from '../format.ts'
import { useTitle } from '../title.ts'
import { useAnswer } from '../live.ts'
import { Conversation } from '../parts/conversation.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { ForgetButton } from '../parts/forget-button.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { NotHere } from '../parts/not-here.tsx'
import { useKeys } from '../parts/keys.ts'
import { placeOf, placeOfConversation, placeOfList } from '../parts/place.ts'
import { SaidOfRun } from '../parts/said.tsx'
import { VerdictOfAll } from '../parts/verdict-of-all.tsx'
import { Verdicts } from '../parts/verdicts.tsx'

/** A run that was settled this long ago is not requested again with every change of another one. */
const QUIET_MS = 60_000

/** One run: the conversation, its scores with reasons, what is missing, and its spans. */
export function RunView() {
  const { params } = useRoute()
  const { changes, overview } = useService()
  const { back } = useLocation()
  const id = params['id'] ?? ''
  // A settled run seldom changes; one in progress changes with every span.
  const isQuiet = useRef(false)
  const [revealed, setRevealed] = useState(0)
  const { value, error } = useAnswer<RunDetails>('/api/run', { id }, `${revealed}/${isQuiet.current ? -1 : changes}`)
  isQuiet.current =
    value?.stored !== undefined && value.run.id === id && value.stored.settled_ms < Date.now() - QUIET_MS
  useKeys({ Escape: back, u: back })
  useTitle(value?.run.userInput?.slice(0, 60) ?? value?.run.agent.name ?? 'Run')
  if (value === undefined) return <NotHere what="run" error={error} />
  const { run, isOpen, scores, spans, stored } = value
  const withheld = value.withheld.filter(({ runId }) => runId === run.id)
  const own = scores.filter(({ runId }) => runId === run.id).map(({ evaluation }) => evaluation)
  return (
    <article class="run">
      <Head
        run={run}
        isOpen={isOpen}
        evaluations={own}
        spans={spans}
        parentId={stored?.parent_id ?? undefined}
        conversation={value.conversation}
        costUsd={stored?.cost_usd ?? undefined}
      />
      <div class="run-columns">
        <section aria-label="Conversation">
          <Conversation run={run} spans={spans} scores={scores} said={value.said} />
        </section>
        <aside aria-label="Scores">
          <SaidOfRun said={value.said.filter(({ runId, toolCall }) => runId === run.id && toolCall === undefined)} />
          <h2>Scores</h2>
          <Withheld scores={withheld} onReveal={() => setRevealed((before) => before + 1)} />
          {own.length > 0 ? (
            <Verdicts evaluations={own} />
          ) : withheld.length > 0 ? null : (
            <p class="muted">
              {isOpen
                ? 'The run is in progress; it is scored when it is complete.'
                : overview.files === undefined
                  ? 'No scorer was asked about this run.'
                  : 'The files hold no score of this run.'}
            </p>
          )}
          <MissingFacts run={run} />
          <Facts run={run} />
        </aside>
      </div>
      <Spans spans={spans} />
    </article>
  )
}

interface WithheldProps {
  readonly scores: RunDetails['withheld']
  readonly onReveal: () => void
}

/** Scores that were drawn to be labelled: the verdict is shown after the label, or the run leaves the draw. */
function Withheld({ scores, onReveal }: WithheldProps) {
  if (scores.length === 0) return null
  return (
    <ul class="verdicts">
      {scores.map(({ runId, scorer, version }) => (
        <li key={scorer} class="verdict withheld">
          <p>
            <b>{scorer}</b> is hidden: this run was drawn to be labelled.
          </p>
          <p class="buttons">
            <a class="button" href={`/labels?scorer=${encodeURIComponent(scorer)}`}>
              Label it
            </a>
            <button
              type="button"
              title="The run is not drawn any more: a label that follows a verdict says nothing about it."
              onClick={() => void send('/api/labels/reveal', { runId, scorer, version }).then(onReveal)}
            >
              Show and leave the draw
            </button>
          </p>
        </li>
      ))}
    </ul>
  )
}

interface HeadProps {
  readonly run: AgentRun
  readonly isOpen: boolean
  readonly evaluations: readonly Evaluation[]
  readonly spans: readonly SourceSpan[]
  readonly parentId: string | undefined
  readonly conversation: RunDetails['conversation']
  /** The cost of the run's own model calls, at list prices. */
  readonly costUsd: number | undefined
}

function Head({ run, isOpen, evaluations, spans, parentId, conversation, costUsd }: HeadProps) {
  const { overview } = useService()
  const jaeger =
    overview.jaegerUrl === undefined
      ? undefined
      : `${overview.jaegerUrl.replace(/\/$/, '')}/trace/${run.traceId}?uiFind=${run.spanId}`
  const tokens = (run.usage.inputTokens ?? 0) + (run.usage.outputTokens ?? 0)
  return (
    <header class="run-head">
      <nav aria-label="Breadcrumb">
        <a href={placeOfList('/runs')}>Runs</a>
        {parentId !== undefined && (
          <>
            {' / '}
            <a href={placeOf(parentId)}>the run that started it</a>
          </>
        )}
      </nav>
      <h1>{headOf(run.userInput ?? run.agent.name ?? 'Run')}</h1>
      <p class="run-facts">
        {isOpen ? (
          <span class="mark none">
            <span class="pulse" aria-hidden="true" /> in progress
          </span>
        ) : (
          <>
            {run.traceId === EXAMPLE_TRACE && (
              <span class="mark warn">example: deleted with the first run of yours</span>
            )}
            <VerdictOfAll evaluations={evaluations} />
            <span class={`mark ${run.status === 'error' ? 'fail' : 'none'}`}>
              {run.status === 'ok' ? 'finished' : run.status === 'error' ? '▲ error' : run.status}
            </span>
          </>
        )}
        {run.userInput !== undefined && <b>{run.agent.name}</b>}
        {!run.complete && !isOpen && <span class="mark warn">! incomplete: spans are missing</span>}
        <span>{duration(run.endTimeMs - run.startTimeMs)}</span>
        <span>{plural(run.steps.length, 'model call')}</span>
        <span>{plural(run.toolCalls.length, 'tool call')}</span>
        {tokens > 0 && <span>{count(tokens)} tokens</span>}
        {costUsd !== undefined && <span title="at the list prices of the models">{usd(costUsd)}</span>}
        <time dateTime={new Date(run.startTimeMs).toISOString()}>{time(run.startTimeMs)}</time>
        <span class="muted">{plural(spans.length, 'span')}</span>
        {conversation !== undefined && (
          <a href={placeOfConversation(conversation.key)}>In a conversation of {plural(conversation.turns, 'turn')}</a>
        )}
      </p>
      <p class="run-actions">
        <CopyButton
          text={() => ask(`/api/run.json?id=${encodeURIComponent(run.id)}`).then((response) => response.text())}
        >
          Copy as JSON
        </CopyButton>
        <CopyButton text={() => Promise.resolve(location.origin + at(placeOf(run.id)))}>Copy link</CopyButton>
        {!isOpen && run.userInput !== undefined && (
          <CopyButton
            text={() => ask(`/api/case?id=${encodeURIComponent(run.id)}`).then((response) => response.text())}
          >
            Copy as a case
          </CopyButton>
        )}
        <a class="button" href={`/try?runs=${encodeURIComponent(run.id)}`}>
          Score again
        </a>
        {jaeger !== undefined && (
          <a class="button" href={jaeger} target="_blank" rel="noreferrer noopener">
            Open in Jaeger
          </a>
        )}
        <ForgetButton person={{ trace: run.traceId }} what="this trace" then="/" />
        {run.userId !== undefined && <ForgetButton person={{ user: run.userId }} what="all of this user" then="/" />}
      </p>
    </header>
  )
}

const WHY: Readonly<Record<AgentRun['missing'][number]['why'], string>> = {
  'not-captured': 'is not captured',
  redacted: 'was redacted',
  truncated: 'was cut short',
  'not-recorded': 'is not recorded by this library',
  'span-lost': 'is on a span that did not arrive',
  'stored-elsewhere': 'is stored outside of the spans',
  limit: 'was left out because of a limit',
  undecided: 'is not shown: several model calls may have given it, and the spans do not say which',
}

function MissingFacts({ run }: { readonly run: AgentRun }) {
  if (run.missing.length === 0) return null
  return (
    <section class="missing">
      <h2>What is missing</h2>
      <ul>
        {run.missing.map(({ what, why, switch: setting }) => (
          <li key={what}>
            <code>{what}</code> {WHY[why]}.
            {setting !== undefined && (
              <>
                {' '}
                To record it: <code class="setting">{setting}</code>
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Facts that are filters on runs. */
const FILTERS: Readonly<Record<string, string>> = { Service: 'service', User: 'user', Conversation: 'conversation' }

function Facts({ run }: { readonly run: AgentRun }) {
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Service', toText(run.resource['service.name'])],
    ['User', run.userId],
    ['Version', run.agent.version ?? toText(run.resource['service.version'])],
    ['Models', run.models.join(', ')],
    ['Conversation', run.conversationId],
    ['Read by', run.dialect],
    ['Trace', run.traceId],
    ['Span', run.spanId],
  ]
  return (
    <section class="facts-of-run">
      <h2>Facts</h2>
      <dl class="small-facts">
        {facts
          .filter(([, value]) => value !== undefined && value !== '')
          .map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>
                {FILTERS[name] === undefined ? (
                  value
                ) : (
                  <a href={`/runs${toSearch({ [FILTERS[name]]: value })}`}>{value}</a>
                )}
              </dd>
            </>
          ))}
      </dl>
    </section>
  )
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function Spans({ spans }: { readonly spans: readonly SourceSpan[] }) {
  const [isOpen, setOpen] = useState(false)
  const startMs = Math.min(...spans.map(({ startTimeMs }) => startTimeMs))
  return (
    <details class="spans" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <b>Raw spans</b> <span class="muted">{plural(spans.length, 'span')}</span>
      </summary>
      {isOpen &&
        spans.map((span) => (
          <details key={span.spanId} class="span">
            <summary>
              <code>{span.name}</code>{' '}
              <span class="muted">
                +{duration(span.startTimeMs - startMs)} · {duration(span.endTimeMs - span.startTimeMs)}
                {span.status.code === 'error' && ' · ▲ error'}
              </span>
            </summary>
            <JsonView value={span} />
          </details>
        ))}
    </details>
  )
}
