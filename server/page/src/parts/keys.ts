import { useEffect, useRef } from 'preact/hooks'

/** Binds keys to functions, except while somebody types into a field. */
export function useKeys(bound: Readonly<Record<string, (event: KeyboardEvent) => void>>): void {
  const latest = useRef(bound)
  latest.current = bound
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      // An open dialog receives the keys alone: Escape closes it.
      if (document.querySelector('dialog[open]') !== null) return
      const { target } = event
      const isTyping = target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
      if (event.ctrlKey || event.metaKey || event.altKey || (isTyping && event.key !== 'Escape')) return
      const action = latest.current[event.key]
      if (action === undefined) return
      event.preventDefault()
      action(event)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}
