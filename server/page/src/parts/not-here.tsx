interface NotHereProps {
  readonly what: 'run' | 'conversation'
  /** Why there is nothing to show; `undefined` while it is loaded. */
  readonly error: string | undefined
}

/** Shown in place of what is still loaded, or is not stored. */
export function NotHere({ what, error }: NotHereProps) {
  if (error === undefined) return <p class="closed muted">Loading…</p>
  return (
    <section class="closed">
      <h1>This {what} is not here</h1>
      <p>{error}</p>
      <a href={`/${what}s`}>All {what}s</a>
    </section>
  )
}
