import type { ComponentChildren } from 'preact'

import { CALL_STATUS } from '../../../../src/model/call-status.ts'
import type { AgentRun, Evaluation, RunDetails } from '../api.ts'
import { duration } from '../format.ts'
import { CallScores } from './call-scores.tsx'
import { noteOf, quotesOf } from './findings.ts'
import type { Finding } from './findings.ts'
import { SaidList } from './said.tsx'
import { JsonView } from './json-view.tsx'

const TONES = { succeeded: 'pass', failed: 'fail', none: 'warn', unknown: 'none' }

interface ToolProps {
  readonly call: AgentRun['toolCalls'][number]
  /** Its index in the run. */
  readonly index: number
  /** The id of its element. */
  readonly anchor: string
  readonly evaluations: readonly Evaluation[]
  readonly said: RunDetails['said']
  readonly took: number | undefined
  readonly findings: readonly Finding[]
  /** Whether an agent that it started is in `children`. */
  readonly hasChild: boolean
  readonly children: ComponentChildren
}

/** A tool call: its scores, its arguments, its result, the findings about it, and the agent that it started. */
export function Tool({ call, index, anchor, evaluations, said, took, findings, hasChild, children }: ToolProps) {
  const { outcome, sign, words } = CALL_STATUS[call.status]
  const tone = TONES[outcome]
  const wrong = new Map(
    findings.flatMap(({ places: [place] = [], reason = '' }): [string, string][] =>
      place?.path === undefined ? [] : [[place.path, reason]],
    ),
  )
  // A call that went well is folded to a line.
  const isOpen = tone !== 'pass' || findings.length > 0 || hasChild
  // That a call failed is said by its mark.
  const notes = findings.filter(
    ({ about, verdict, places: [place] = [] }) =>
      place?.path === undefined && !(about === 'call' && verdict === 'failed'),
  )
  return (
    <section id={anchor} class={`tool ${tone}`} aria-label={`Tool call ${call.name}, ${words}`}>
      <details open={isOpen}>
        <summary>
          <h4>
            <span class={`mark ${tone}`}>
              <span aria-hidden="true">{sign}</span> {words}
            </span>
            <code>{call.name}</code>
            {call.agentName !== undefined && <span class="muted">by {call.agentName}</span>}
            {took !== undefined && <span class="facts">{duration(took)}</span>}
          </h4>
        </summary>
        {notes.map((finding, place) => (
          <p key={place} class={`evidence ${finding.rating === 'good' ? 'good' : 'bad'} note`}>
            <span aria-hidden="true">{finding.rating === 'good' ? '✓' : '✗'}</span> {noteOf(finding, index)}
          </p>
        ))}
        <div class="in-out">
          <div>
            <h5>Arguments</h5>
            {call.arguments === undefined ? (
              <p class="muted">not recorded</p>
            ) : (
              <JsonView value={call.arguments} wrong={wrong} />
            )}
            {[...wrong]
              .filter(([path]) => !isIn(call.arguments, path))
              .map(([path, why]) => (
                <p key={path} class="evidence bad note">
                  <span aria-hidden="true">✗</span> {path}: {why}
                </p>
              ))}
          </div>
          <div>
            {call.error !== undefined && (
              <>
                <h5>Error</h5>
                <p class="problem">
                  {call.error.type !== undefined && <b>{call.error.type} </b>}
                  {call.error.message}
                </p>
              </>
            )}
            {(call.error === undefined || call.result !== undefined) && <h5>Result</h5>}
            {call.error !== undefined && call.result === undefined ? null : call.result === undefined ? (
              <p class="muted">not recorded</p>
            ) : (
              <JsonView value={call.result} quotes={quotesOf(findings, index)} />
            )}
          </div>
        </div>
        {children}
      </details>
      <CallScores evaluations={evaluations} level="tool-call" index={index} />
      {said.length > 0 && <SaidList said={said} />}
    </section>
  )
}

/** Whether a path such as `stops[2].name` leads to a value. */
function isIn(value: unknown, path: string): boolean {
  let current = value
  for (const key of path.split(/[.[\]]+/).filter((part) => part !== '')) {
    if (typeof current !== 'object' || current === null || !(key in current)) return false
    current = Object.entries(current).find(([name]) => name === key)?.[1]
  }
  return true
}
