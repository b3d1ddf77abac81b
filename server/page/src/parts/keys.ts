import { useEffect, useRef } from 'preact/hooks'

/** `j` and `k` move the focus from row to row of a list; `Enter` is the link's own. */
export function useRowKeys(): void {
  useKeys({
    j: () => moveFocus(1),
    k: () => moveFocus(-1),
    ArrowDown: () => moveFocus(1),
    ArrowUp: () => moveFocus(-1),
    '/': () => searchField()?.focus(),
    Escape: () => searchField()?.blur(),
  })
}

function searchField(): HTMLInputElement | null {
  return document.querySelector<HTMLInputElement>('[type="search"]')
}

function moveFocus(by: number): void {
  const rows = [...document.querySelectorAll<HTMLAnchorElement>('.run-row')]
  const at = rows.findIndex((row) => row === document.activeElement)
  const start = by > 0 ? 0 : rows.length - 1
  const next = rows[at < 0 ? start : Math.min(rows.length - 1, Math.max(0, at + by))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}

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
