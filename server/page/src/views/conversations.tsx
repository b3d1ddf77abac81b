import { toSearch } from '../api.ts'
import type { ConversationPage, ConversationRow } from '../api.ts'
import { ago, plural, time } from '../format.ts'
import { useAnswer, useMore } from '../live.ts'
import { FilterBar } from '../parts/filter-bar.tsx'
import { Choice } from '../parts/choice.tsx'
import { useRowKeys } from '../parts/keys.ts'
import { keepListPlace, placeOfConversation, queryOf, useChoices } from '../parts/place.ts'
import { runStatusOf } from '../parts/run-status.ts'
import { ScoreMarks } from '../parts/score-mark.tsx'
import { AgentChoice, scorersOf, TimeChoice, VerdictChoice } from '../parts/scorer-choice.tsx'
import { SearchField } from '../parts/typed-field.tsx'
import { useService } from '../service.ts'
import { useTitle } from '../title.ts'

/** The list of conversations, the worst first, with its filters. */
export function ConversationsView() {
  const { overview, changes } = useService()
  const { openConversations = 0, waitingConversations = 0 } = overview
  const hasScorer = overview.scorers.some(({ level }) => level === 'conversation')
  const { choices } = useChoices()
  const query = queryOf(choices)
  const { value, error } = useAnswer<ConversationPage>('/api/conversations', query, changes)
  const more = useMore('/api/conversations', query, value)
  const all = more.pages.flatMap(({ conversations }) => conversations)
  const rows = [...new Map(all.map((each) => [each.key, each])).values()]
  keepListPlace('/conversations', toSearch(choices))
  useRowKeys()
  useTitle('Conversations')
  return (
    <>
      <h1 class="hidden">Conversations</h1>
      <Filters />
      {error !== undefined && <p class="problem">{error}</p>}
      {openConversations + waitingConversations > 0 && (
        <p class="fits muted">
          Without scores yet: {plural(openConversations, 'conversation')} may go on,{' '}
          {waitingConversations.toLocaleString('en')} over.
        </p>
      )}
      {openConversations + waitingConversations === 0 && rows.length > 0 && !hasScorer && (
        <p class="fits muted">
          No scorer scores conversations here: <code>abandoned</code> and <code>repeated_question</code> need no judge.
        </p>
      )}
      {rows.length > 0 && (
        <p class="list-head chats" aria-hidden="true">
          <span />
          <span>Agent</span>
          <span class="texts">
            <span>First message</span>
            <span>Last answer</span>
          </span>
          <span>Scores</span>
          <span class="took" />
          <span class="when">Ago</span>
        </p>
      )}
      <ol class="runs" aria-label="Conversations">
        {rows.map((row) => (
          <Row key={row.key} row={row} scorer={choices['scorer']} />
        ))}
      </ol>
      {value !== undefined && rows.length === 0 && (
        <p class="empty">
          {overview.conversations === 0 ? (
            'A conversation is all runs of one service with one id, and no run has an id of a conversation.'
          ) : (
            <>
              No conversation fits these filters. <a href="/conversations">Show all conversations</a>
            </>
          )}
        </p>
      )}
      {more.next !== undefined && (
        <button type="button" class="more" onClick={more.load}>
          More conversations
        </button>
      )}
    </>
  )
}

function Filters() {
  const { overview } = useService()
  const { choices, choose } = useChoices()
  const { scorer = '' } = choices
  return (
    <FilterBar isSearch>
      <SearchField placeholder="Search what was said, ids" />
      <AgentChoice />
      <TimeChoice any="any" />
      <Choice
        label="Scorer"
        any="any"
        value={scorer}
        options={scorersOf(overview, 'conversations')}
        onChange={(chosen) => choose(chosen === '' ? { scorer: '', label: '' } : { scorer: chosen })}
      />
      {scorer !== '' && <VerdictChoice />}
      <Choice
        label="Order"
        any="worst first"
        value={choices['sort'] === 'newest' ? 'newest' : ''}
        options={[{ value: 'newest', name: 'newest first' }]}
        onChange={(sort) => choose({ sort })}
      />
      {Object.keys(choices).length > 0 && (
        <a class="clear" href="/conversations">
          Clear
        </a>
      )}
    </FilterBar>
  )
}

/** @param scorer The scorer that the list is filtered by. */
function Row({ row, scorer }: { readonly row: ConversationRow; readonly scorer: string | undefined }) {
  const [sign, tone] = runStatusOf(row.status)
  return (
    <li>
      <a class="run-row chats" href={placeOfConversation(row.key)}>
        <span class={`status ${tone}`} title={`the last run: ${row.status}`}>
          {row.status !== 'ok' && <span aria-hidden="true">{sign}</span>}
          <span class="hidden">the last run: {row.status}</span>
        </span>
        <span class="agent" title={row.agent}>
          {row.agent === '' ? row.service : row.agent}
        </span>
        <span class="texts">
          <span class="question">{row.question === '' ? <i class="muted">message not recorded</i> : row.question}</span>
          <span class="answer">{row.answer}</span>
        </span>
        <ScoreMarks scores={row.scores} chosen={scorer} />
        <span class="took">{plural(row.turns, 'turn')}</span>
        <time class="when" dateTime={new Date(row.end_ms).toISOString()} title={time(row.end_ms)}>
          {ago(row.end_ms, Date.now())}
        </time>
      </a>
    </li>
  )
}
