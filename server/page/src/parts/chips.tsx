import { time } from '../format.ts'
import { useChoices } from './place.ts'
import type { Choices } from './place.ts'

/** The filters that have no field, each with a button that removes it. */
export function Chips() {
  const { choices, choose } = useChoices()
  const chips = chipsOf(choices)
  if (chips.length === 0) return null
  return (
    <ul class="chips" aria-label="Filters">
      {chips.map(({ text, without }) => (
        <li key={text}>
          <button type="button" class="chip" title="Remove this filter" onClick={() => choose(without)}>
            <bdi>{text}</bdi> <span aria-hidden="true">×</span>
            <span class="hidden">remove</span>
          </button>
        </li>
      ))}
    </ul>
  )
}

const NAMES = {
  service: (value: string) => `service ${value}`,
  user: (value: string) => `user ${value}`,
  conversation: (value: string) => `conversation ${value}`,
  agentVersion: (value: string) => `version ${value}`,
  minSeconds: (value: string) => `took ${value} s or more`,
  minUsd: (value: string) => `cost $${value} or more`,
} as const

function chipsOf(choices: Choices): readonly { readonly text: string; readonly without: Choices }[] {
  const traits = (choices['trait'] ?? '').split('\n').filter((trait) => trait !== '')
  const since = Date.parse(choices['since'] ?? '')
  const { from, to } = choices
  return [
    ...(Number.isNaN(since) ? [] : [{ text: `since ${time(since)}`, without: { since: '' } }]),
    ...(from === undefined || to === undefined
      ? []
      : [{ text: `${time(Number(from))} to ${time(Number(to))}`, without: { from: '', to: '' } }]),
    ...Object.entries(NAMES).flatMap(([name, toText]) =>
      choices[name] === undefined ? [] : [{ text: toText(choices[name]), without: { [name]: '' } }],
    ),
    ...traits.map((trait) => ({ text: trait, without: { trait: traits.filter((each) => each !== trait).join('\n') } })),
  ]
}
