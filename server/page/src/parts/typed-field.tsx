import { useEffect, useRef, useState } from 'preact/hooks'
import type { InputHTMLAttributes } from 'preact'

interface TypedProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onInput' | 'onChange'> {
  readonly value: string
  /** Called when the person has stopped typing for a moment. */
  readonly onType: (value: string) => void
}

/** Milliseconds without a key after which what was typed counts. */
const PAUSE_MS = 200

/** A field that keeps what is being typed, whatever arrives meanwhile. */
export function TypedField({ value, onType, ...rest }: TypedProps) {
  const [typed, setTyped] = useState(value)
  const field = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => {
    // What another choice changed is shown, but not while somebody types.
    if (field.current !== document.activeElement) setTyped(value)
  }, [value])
  return (
    <input
      {...rest}
      ref={field}
      value={typed}
      onInput={({ currentTarget }) => {
        const next = currentTarget.value
        setTyped(next)
        clearTimeout(timer.current)
        timer.current = setTimeout(() => onType(next), PAUSE_MS)
      }}
    />
  )
}
