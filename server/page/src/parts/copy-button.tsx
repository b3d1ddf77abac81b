import { useState } from 'preact/hooks'

interface CopyProps {
  /** The text to copy, or a function that loads it. */
  readonly text: string | (() => Promise<string>)
  readonly children?: string
}

/** Copies a text, and confirms it. */
export function CopyButton({ text, children = 'Copy' }: CopyProps) {
  const [state, setState] = useState<string>()
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : await text())
      setState('Copied')
    } catch {
      setState('Could not be copied')
    }
    setTimeout(() => setState(undefined), 1500)
  }
  return (
    <button type="button" class="copy" onClick={() => void copy()}>
      <span aria-live="polite">{state ?? children}</span>
    </button>
  )
}
