import { useEffect, useRef, useState } from 'preact/hooks'

import { useChoices } from './place.ts'

interface TypedProps {
  readonly type: 'search' | 'number'
  readonly value: string
  readonly placeholder: string
  readonly label: string
  /** The largest number. @default none */
  readonly max?: string
  /** Called when the person has stopped typing for a moment. */
  readonly onType: (value: string) => void
}

/** Milliseconds without a key press after which the text is used. */
const PAUSE_MS = 200

/** A field that keeps the typed text, whatever arrives meanwhile. */
export function TypedField({ type, value, placeholder, label, max, onType }: TypedProps) {
  const [typed, setTyped] = useState(value)
  const field = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => {
    // A change by another control is shown, but not while somebody types.
    if (field.current !== document.activeElement) setTyped(value)
  }, [value])
  const rest = {
    ref: field,
    placeholder,
    'aria-label': label,
    value: typed,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
      const next = currentTarget.value
      setTyped(next)
      clearTimeout(timer.current)
      timer.current = setTimeout(() => onType(next), PAUSE_MS)
    },
  }
  return type === 'search' ? (
    <input type="search" {...rest} />
  ) : (
    <input type="number" min="0" max={max} step="any" {...rest} />
  )
}

/** The text that a list is searched for. */
export function SearchField({ placeholder }: { readonly placeholder: string }) {
  const { choices, choose } = useChoices()
  return (
    <label class="choice search">
      <span>Text</span>
      <TypedField
        type="search"
        label="Text"
        placeholder={placeholder}
        value={choices['text'] ?? ''}
        onType={(text) => choose({ text })}
      />
    </label>
  )
}
