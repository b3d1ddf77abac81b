interface ChoiceProps {
  readonly label: string
  readonly value: string
  readonly options: readonly (string | { readonly value: string; readonly name: string })[]
  readonly any?: string | undefined
  readonly onChange: (value: string) => void
}

/** A labelled list to choose one value from. */
export function Choice({ label, value, options, any, onChange }: ChoiceProps) {
  const all = options.map((each) => (typeof each === 'string' ? { value: each, name: each } : each))
  const isKnown = value === '' || all.some((each) => each.value === value)
  return (
    <label class="choice">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {any !== undefined && <option value="">{any}</option>}
        {!isKnown && <option value={value}>{value}</option>}
        {all.map((each) => (
          <option key={each.value} value={each.value}>
            {each.name}
          </option>
        ))}
      </select>
    </label>
  )
}
