import { describe, expect, it } from 'vitest'

import type { AgentRun } from '../model/agent-run.ts'
import { plain, AGENT_RUN_FACTS } from '../model/facts.ts'
import { toRunInput } from '../scoring/given/run-input.ts'
import { conversationKey } from './conversation-key.ts'
import { toConversationRun } from './conversation-run.ts'
import { joinMembers } from './join-members.ts'
import { toMember, toUnreadMember } from './member.ts'

type Said = { readonly role: string; readonly content: unknown }

/** A run at a minute, whose request repeats what was said before. */
function run(minute: number, input: readonly Said[], output: unknown = `Answer ${minute}.`): AgentRun {
  const startTimeMs = minute * 60_000
  const given = plain(toRunInput({ runId: `run-${minute}`, input, output }).run, AGENT_RUN_FACTS)
  return { ...given, conversationId: 'c', startTimeMs, endTimeMs: startTimeMs + 1000 }
}

const ask = (content: string): Said => ({ role: 'user', content })
const answer = (content: string): Said => ({ role: 'assistant', content })

const toolCall = (id: string, input: unknown) => ({ type: 'tool-call', toolCallId: id, toolName: 'find', input })

/** Five runs, of which each request repeats all messages before it. */
const five = [1, 2, 3, 4, 5].map((minute) =>
  run(
    minute,
    Array.from({ length: minute }, (_, index) => [
      ...(index === 0 ? [] : [answer(`Answer ${index}.`)]),
      ask(`Question ${index + 1}?`),
    ]).flat(),
  ),
)

const join = (runs: readonly AgentRun[]) => joinMembers(runs.map(toMember), { endedBy: 'idle' })
const only = (...minutes: readonly number[]) => join(five.filter((_, index) => minutes.includes(index + 1)))

describe('a conversation', () => {
  it('has a turn for each message of the user, in the order of the starts of its runs', () => {
    const conversation = join(five.toReversed())
    expect(conversation.turns.map(({ user, runs }) => [user, runs.map(({ output }) => output)])).toEqual(
      [1, 2, 3, 4, 5].map((each) => [`Question ${each}?`, [`Answer ${each}.`]]),
    )
    expect(conversation).toMatchObject({
      id: 'c',
      revision: 5,
      complete: true,
      missing: [],
      earlier: [],
      endedBy: 'idle',
      startTimeMs: 60_000,
      endTimeMs: 301_000,
    })
  })

  it('is the same from members that were stored as JSON', () => {
    const stored = five.map((each) => JSON.parse(JSON.stringify(toMember(each))))
    expect(joinMembers(stored, { endedBy: 'idle' })).toEqual(join(five))
  })

  it('goes on with a turn if a run has no new message of the user', () => {
    const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'pay', input: {} }
    const result = { type: 'tool-result', toolCallId: 'c1', toolName: 'pay', output: 'paid' }
    const asked = [ask('Pay it.')]
    const resumed = [...asked, { role: 'assistant', content: [call] }, { role: 'tool', content: [result] }]
    const { turns } = join([run(1, asked, ''), run(2, resumed, 'Paid.'), run(3, [ask('Thanks!')])])
    expect(turns.map(({ user, runs }) => [user, runs.length])).toEqual([
      ['Pay it.', 2],
      ['Thanks!', 1],
    ])
  })

  it('lacks turns if a request repeats a message that came after the first run and belongs to none', () => {
    expect(only(1, 2, 4, 5)).toMatchObject({ complete: false, missing: [{ what: 'turns', why: 'span-lost' }] })
    expect(only(1, 5).complete).toBe(false)
    // The request after the last known run is missing too, and nothing shows it.
    expect(only(1, 2, 3).complete).toBe(true)
  })

  it('shows what was said before its first run, which is not missing', () => {
    expect(only(3, 4, 5)).toMatchObject({ complete: true, missing: [], earlier: ['Question 1?', 'Question 2?'] })
  })

  it('knows no turns before the oldest message of a request that does not repeat all', () => {
    const recent = (from: number) =>
      run(from + 1, [
        ask('Summary of what was said.'),
        answer('…'),
        ask(`Question ${from}?`),
        answer('…'),
        ask('Next?'),
      ])
    expect(join([...five, recent(5)]).complete).toBe(true)
    expect(join([...five.slice(0, 4), recent(5)]).complete).toBe(true)
    const gap = run(9, [
      ask('Summary.'),
      answer('…'),
      ask('Question 4?'),
      answer('…'),
      ask('Lost?'),
      answer('…'),
      ask('Next?'),
    ])
    expect(join([...five, gap]).complete).toBe(false)
  })

  it('takes several messages of the user in a row as one, such as documents and the question', () => {
    const first = run(1, [ask('Documents: …'), ask('Question 1?')])
    const second = run(2, [ask('Question 1?'), answer('Answer 1.'), ask('Other documents: …'), ask('Question 2?')])
    expect(join([first, second])).toMatchObject({
      complete: true,
      turns: [{ user: 'Question 1?' }, { user: 'Question 2?' }],
    })
  })

  it('says that runs were too many to keep, or could not be redacted', () => {
    const members = five.map(toMember)
    expect(joinMembers(members, { endedBy: 'limit', leftOut: 7 })).toMatchObject({
      revision: 12,
      complete: false,
      missing: [{ what: 'turns', why: 'limit' }],
    })
    const last = five.flatMap((each, index) => (index === 4 ? toUnreadMember(each) : []))
    const unread = joinMembers([...members.slice(0, 4), ...last], { endedBy: 'idle' })
    expect(unread).toMatchObject({ complete: false, missing: [{ what: 'turns', why: 'redacted' }] })
    expect(JSON.stringify(unread)).not.toContain('Question 5?')
  })

  it('keeps instructions, arguments as far as there is room, and the beginning and the end of long texts, and names the rest', () => {
    const content = [toolCall('a', { q: 'x'.repeat(200) }), toolCall('b', { q: 'y'.repeat(32_700) })]
    const output = [
      { role: 'assistant', content },
      { role: 'assistant', content: 'z'.repeat(5000) },
    ]
    const [kept] = join([run(1, [ask('Find.')], output)]).runs
    expect(kept?.toolCalls.map((each) => each.arguments)).toEqual([undefined, { q: 'y'.repeat(32_700) }])
    expect(kept?.output).toHaveLength(4032)
    expect(kept?.missing).toEqual(
      expect.arrayContaining([
        { what: 'output', why: 'limit' },
        { what: 'toolCalls[0].arguments', why: 'limit' },
      ]),
    )
  })

  it('is over if a span of a run says so', () => {
    const attributes = { 'spanscore.conversation.end': true }
    expect(five.map((each) => toMember(each).isLast)).toEqual([false, false, false, false, false])
    expect(toMember({ ...run(6, [ask('Bye.')]), attributes }).isLast).toBe(true)
  })
})

describe('a conversation as a run', () => {
  it('has the calls, steps and tokens of all its runs, and the ids of the last one', () => {
    const usage = { inputTokens: 10, outputTokens: 5 }
    const calls = ['a', 'b'].map((id) => ({ role: 'assistant', content: [toolCall(id, { id })] }))
    const runs = [1, 2].map((minute) => ({
      ...run(minute, [ask('Find.')], [...calls, answer('Found.')]),
      usage,
      spanId: `${minute}`.repeat(16),
    }))
    const joined = toConversationRun(join(runs))
    expect(joined.toolCalls.map(({ step }) => step)).toEqual([0, 1, 3, 4])
    expect(joined.steps).toHaveLength(6)
    expect(joined).toMatchObject({
      id: 'c',
      spanId: '2'.repeat(16),
      usage: { inputTokens: 20, outputTokens: 10 },
      output: 'Found.',
    })
    expect(joined.input.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(joined.conversation?.turns).toHaveLength(2)
  })

  it('has no number of tokens that one of its runs lacks', () => {
    const [one, other] = [run(1, [ask('A?')]), run(2, [ask('B?')])]
    const joined = toConversationRun(
      join([
        { ...one, usage: { inputTokens: 3, outputTokens: 1 } },
        { ...other, usage: { inputTokens: 4 } },
      ]),
    )
    expect(joined.usage).toEqual({ inputTokens: 7 })
  })
})

it('tells conversations apart by service and by the whole id', () => {
  const resource = { 'service.name': 'shop' }
  const key = conversationKey({ conversationId: 'x'.repeat(300), resource })
  expect(key).toMatch(/^[0-9a-f]{32}$/)
  expect(conversationKey({ conversationId: `${'x'.repeat(299)}y`, resource })).not.toBe(key)
  expect(conversationKey({ conversationId: 'x'.repeat(300), resource: { 'service.name': 'desk' } })).not.toBe(key)
  expect(conversationKey({ conversationId: undefined, resource })).toBeUndefined()
})
