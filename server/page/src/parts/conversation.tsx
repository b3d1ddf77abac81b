import type { ComponentChildren } from 'preact'

import type { AgentRun, Evaluation, RunDetails, SourceSpan } from '../api.ts'
import { count, duration } from '../format.ts'
import { CallScores } from './call-scores.tsx'
import { findingsOf, findingsOfCall } from './findings.ts'
import type { Finding } from './findings.ts'
import { JsonView } from './json-view.tsx'
import { placeOf } from './place.ts'
import { Text } from './text.tsx'
import { Tool } from './tool-call.tsx'
import { ScoreMarks, toListed } from './score-mark.tsx'

type Message = AgentRun['input'][number]
type ModelCall = AgentRun['steps'][number]

interface ConversationProps {
  readonly run: AgentRun
  readonly spans: readonly SourceSpan[]
  /** The results of scorers for this run and those that it started; empty if a person should judge it without them. */
  readonly scores: readonly { readonly runId: string; readonly evaluation: Evaluation }[]
  /** What users and other tools say of these runs. */
  readonly said?: RunDetails['said']
}

/** The course of a run: its input, the texts of the model, its tool calls, and the agents that it started, in place. */
export function Conversation({ run, spans, scores, said = [] }: ConversationProps) {
  const evaluations = scores.filter(({ runId }) => runId === run.id).map(({ evaluation }) => evaluation)
  const findings = evaluations.flatMap(findingsOf)
  const took = new Map(spans.map((span) => [span.spanId, span.endTimeMs - span.startTimeMs]))
  const lastUser = run.input.findLastIndex(({ role }) => role === 'user')
  const history = lastUser > 0 ? run.input.slice(0, lastUser) : []
  const asked = lastUser >= 0 ? run.input.slice(lastUser) : run.input
  const lastAnswer = run.steps.at(-1)?.output?.map(textOf).join('')
  const isAnswerShown =
    run.output === undefined || (lastAnswer !== undefined && lastAnswer.trim() === run.output.trim())
  const shown = new Set<string>()
  const callsOf = (step: number) =>
    run.toolCalls.flatMap((call, index) => (call.step === step ? [{ call, index }] : []))
  const stepCount = Math.max(run.steps.length, ...run.toolCalls.map(({ step }) => step + 1))
  const steps = Array.from({ length: stepCount }, (_unused, index) => {
    const step = run.steps[index]
    return (
      <Step
        key={index}
        index={index}
        step={step}
        took={took.get(step?.spanId ?? '')}
        anchor={index === stepCount - 1 && callsOf(index).length === 0 ? `${run.id}/answer` : undefined}
        findings={findings}
      >
        {callsOf(index).map(({ call, index: place }) => {
          const child = run.children.find(
            ({ id, parent }) => id === call.childRunId || (call.id !== undefined && parent?.toolCallId === call.id),
          )
          if (child !== undefined) shown.add(child.id)
          return (
            <Tool
              key={place}
              call={call}
              index={place}
              anchor={`${run.id}/call-${place}`}
              evaluations={evaluations}
              said={said.filter(({ runId, toolCall }) => runId === run.id && toolCall === place)}
              took={took.get(call.spanId ?? '')}
              findings={findingsOfCall(findings, place)}
              hasChild={child !== undefined}
            >
              {child !== undefined && <Nested run={child} spans={spans} scores={scores} said={said} />}
            </Tool>
          )
        })}
      </Step>
    )
  })
  // The answer comes before the way to it.
  const lastStep = run.steps[stepCount - 1]
  const hasAnswerStep =
    callsOf(stepCount - 1).length === 0 && (lastStep?.output?.some(({ text }) => text !== undefined) ?? false)
  const before = hasAnswerStep ? steps.slice(0, -1) : steps
  return (
    <ol class="conversation">
      {run.systemInstructions !== undefined && (
        <Fold title="System instructions" tone="system" text={run.systemInstructions}>
          <Text text={run.systemInstructions} />
        </Fold>
      )}
      {history.length > 0 && (
        <Fold
          title={`History: ${history.length} earlier ${history.length === 1 ? 'message' : 'messages'}`}
          tone="system"
          text={history.map(textOf).join(' · ')}
        >
          <ol class="conversation">
            {history.map((message, index) => (
              <Turn key={index} message={message} />
            ))}
          </ol>
        </Fold>
      )}
      {asked.map((message, index) => (
        <Turn key={index} message={message} />
      ))}
      {hasAnswerStep && steps.at(-1)}
      {!isAnswerShown && run.output !== undefined && (
        <li class="turn answer" id={`${run.id}/answer`}>
          <h3>Answer</h3>
          <Text text={run.output} findings={findings} isWritten />
        </li>
      )}
      {run.error !== undefined && (
        <li class="turn error">
          <h3>▲ The run failed{run.error.type === undefined ? '' : `: ${run.error.type}`}</h3>
          {run.error.message !== undefined && <Text text={run.error.message} />}
        </li>
      )}
      {before.length > 0 && (
        <li class="way">
          <h2>The way there</h2>
        </li>
      )}
      {before}
      {run.sideCalls.map((call, index) => (
        <SideCall key={index} call={call} took={took.get(call.spanId ?? '')} />
      ))}
      {run.retrievals.map((retrieval, index) => (
        <Retrieved
          key={index}
          retrieval={retrieval}
          index={index}
          evaluations={evaluations}
          took={took.get(retrieval.spanId ?? '')}
        />
      ))}
      {run.children
        .filter(({ id }) => !shown.has(id))
        .map((child) => (
          <li key={child.id} class="turn">
            <Nested run={child} spans={spans} scores={scores} said={said} />
          </li>
        ))}
    </ol>
  )
}

function textOf({ text, parts }: Message): string {
  return text ?? parts.map((part) => ('content' in part ? part.content : `(${part.type})`)).join(' ')
}

function Fold({
  title,
  tone,
  text,
  children,
}: {
  readonly title: string
  readonly tone: string
  readonly text: string
  readonly children: ComponentChildren
}) {
  return (
    <li class={`turn ${tone}`}>
      <details>
        <summary>
          <b>{title}</b> <span class="muted peek">{text.slice(0, 160)}</span>
        </summary>
        {children}
      </details>
    </li>
  )
}

/** A message that the run was given. Nothing is marked in it: scorers judge what the run made of it. */
function Turn({ message }: { readonly message: Message }) {
  return (
    <li class={`turn ${message.role}`}>
      <h3>
        {message.role === 'user' ? 'User' : message.role === 'assistant' ? 'Model' : message.role}
        {message.name !== undefined && <span class="muted"> {message.name}</span>}
      </h3>
      <Parts message={message} />
    </li>
  )
}

function Parts({ message, findings = [] }: { readonly message: Message; readonly findings?: readonly Finding[] }) {
  const isWritten = message.role === 'assistant'
  return (
    <>
      {message.parts.map((part, index) => {
        if (part.type === 'text')
          return <Text key={index} text={part.content} findings={findings} isWritten={isWritten} />
        if (part.type === 'reasoning') {
          return (
            <details key={index} class="reasoning">
              <summary>Reasoning</summary>
              <Text text={part.content} />
            </details>
          )
        }
        if (part.type === 'tool_call') {
          return (
            <p key={index} class="muted">
              calls <code>{part.name}</code>
            </p>
          )
        }
        if (part.type === 'tool_call_response') return <JsonView key={index} value={part.response} />
        // Images and files are named and never loaded.
        return (
          <p key={index} class="muted">
            ({part.type}: not shown here)
          </p>
        )
      })}
      {message.parts.length === 0 && message.text !== undefined && (
        <Text text={message.text} findings={findings} isWritten={isWritten} />
      )}
    </>
  )
}

interface StepProps {
  readonly index: number
  readonly step: ModelCall | undefined
  readonly took: number | undefined
  /** The id of the element, if it is the answer. */
  readonly anchor: string | undefined
  readonly findings: readonly Finding[]
  readonly children: ComponentChildren
}

function Step({ index, step, took, anchor, findings, children }: StepProps) {
  const isLast = anchor !== undefined
  const said =
    step?.output?.filter(({ parts, text }) => text !== undefined || parts.some(({ type }) => type !== 'tool_call')) ??
    []
  const tokens = (step?.usage.inputTokens ?? 0) + (step?.usage.outputTokens ?? 0)
  return (
    <li id={anchor} class={`turn model ${isLast ? 'answer' : ''}`}>
      <h3>
        {isLast && said.length > 0 ? 'Answer' : `Step ${index + 1}`}
        <span class="facts">
          {step?.model !== undefined && <span>{step.model}</span>}
          {took !== undefined && <span>{duration(took)}</span>}
          {tokens > 0 && <span>{count(tokens)} tokens</span>}
          {step?.finishReasons.some((reason) => reason === 'length') === true && (
            <span class="mark warn">! cut at the token limit</span>
          )}
        </span>
      </h3>
      {said.map((message, place) => (
        <Parts
          key={place}
          message={{ ...message, parts: message.parts.filter(({ type }) => type !== 'tool_call') }}
          findings={findings}
        />
      ))}
      {step?.error !== undefined && (
        <p class="problem">
          ▲ {step.error.type} {step.error.message}
        </p>
      )}
      {children}
    </li>
  )
}

/** A model call that served the run without being a step: closed, because nothing of the run was read from it. */
function SideCall({ call, took }: { readonly call: AgentRun['sideCalls'][number]; readonly took: number | undefined }) {
  return (
    <li class="turn system">
      <details>
        <summary>
          <b>Side call: {call.kind}</b> {call.name !== undefined && <span class="muted">{call.name} </span>}
          <span class="facts">
            {call.model !== undefined && <span>{call.model}</span>}
            {took !== undefined && <span>{duration(took)}</span>}
          </span>
        </summary>
        {[...(call.input ?? []), ...(call.output ?? [])].map((message, index) => (
          <Parts key={index} message={message} />
        ))}
      </details>
    </li>
  )
}

/** What the run searched for, and what was found, best first. */
function Retrieved({
  retrieval: { kind, query, source, documents, error, toolCall },
  index,
  evaluations,
  took,
}: {
  readonly retrieval: AgentRun['retrievals'][number]
  readonly index: number
  readonly evaluations: readonly Evaluation[]
  readonly took: number | undefined
}) {
  return (
    <li class="turn system">
      <details>
        <summary>
          <b>{RETRIEVAL_TITLES[kind]}</b> {query !== undefined && <span>{query} </span>}
          <span class="facts">
            {source !== undefined && <span>{source}</span>}
            {toolCall !== undefined && <span>by tool call {toolCall + 1}</span>}
            <span>{documents === undefined ? 'documents not recorded' : `${documents.length} documents`}</span>
            {took !== undefined && <span>{duration(took)}</span>}
          </span>
        </summary>
        {error !== undefined && (
          <p class="problem">
            ▲ {error.type} {error.message}
          </p>
        )}
        <ol>
          {documents?.map(({ id, content, score, metadata }, place) => (
            <li key={place}>
              {(id !== undefined || score !== undefined) && (
                <p class="muted">
                  {id} {score}
                </p>
              )}
              <Text
                text={content ?? (metadata === undefined ? '(text not recorded)' : JSON.stringify(metadata))}
                findings={[]}
              />
            </li>
          ))}
        </ol>
      </details>
      <CallScores evaluations={evaluations} level="retrieval" index={index} />
    </li>
  )
}

const RETRIEVAL_TITLES = { search: 'Search', rerank: 'Reranking', memory: 'Memory' } as const

function Nested({ run, spans, scores, said = [] }: ConversationProps) {
  const own = scores.filter(({ runId, evaluation }) => runId === run.id && evaluation.score.status !== 'skipped')
  return (
    <details class="nested" open>
      <summary>
        <b>{run.agent.name ?? 'agent'}</b>{' '}
        <span class="muted">an agent that this run started · {duration(run.endTimeMs - run.startTimeMs)}</span>
        {own.length > 0 && <ScoreMarks scores={own.map(({ evaluation }) => toListed(evaluation))} />}
      </summary>
      {own.length > 0 && (
        <p class="own-page">
          <a href={placeOf(run.id)}>What its scorers say</a>
        </p>
      )}
      <Conversation run={run} spans={spans} scores={scores} said={said} />
    </details>
  )
}
