import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

import { Chips } from './chips.tsx'
import { useChoices } from './place.ts'

interface FilterBarProps {
  /** Whether it searches a list. */
  readonly isSearch?: boolean
  readonly children: ComponentChildren
}

/** The filters of a view, on a phone behind a button, and those without a field as chips. */
export function FilterBar({ isSearch = false, children }: FilterBarProps) {
  const { choices } = useChoices()
  const [isOpen, setOpen] = useState(false)
  const count = Object.keys(choices).length
  return (
    <>
      <form
        class={isOpen ? 'filters is-open' : 'filters'}
        {...(isSearch && { role: 'search' })}
        onSubmit={(event) => event.preventDefault()}
      >
        <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Filters{count > 0 && ` (${count})`}
        </button>
        {children}
      </form>
      <Chips />
    </>
  )
}
