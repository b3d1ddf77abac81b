import type { ComponentChildren } from 'preact'

/** The head of a column. */
interface Head {
  readonly text: ComponentChildren
  readonly isOfNumbers: boolean
}

/** Heads of columns of texts. */
export function texts(...heads: readonly ComponentChildren[]): readonly Head[] {
  return heads.map((text) => ({ text, isOfNumbers: false }))
}

/** Heads of columns of numbers. */
export function numbers(...heads: readonly ComponentChildren[]): readonly Head[] {
  return heads.map((text) => ({ text, isOfNumbers: true }))
}

interface TableProps {
  readonly label: string
  readonly heads: readonly Head[]
  readonly name?: string
  /** The rows. */
  readonly children: ComponentChildren
}

/** A table that is scrolled to the side where it is too wide. */
export function Table({ label, heads, name, children }: TableProps) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class={name}>
        <thead>
          <tr>
            {heads.map(({ text, isOfNumbers }, index) => (
              <th key={index} scope="col" class={isOfNumbers ? 'number' : undefined}>
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}
