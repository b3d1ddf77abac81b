import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'

import { ask, at, read, toSearch } from '../api.ts'
import { plural } from '../format.ts'
import { useService } from '../service.ts'

interface ForgetProps {
  /** Whom or what to delete. */
  readonly person: { readonly trace: string } | { readonly conversation: string } | { readonly user: string }
  /** What is deleted, such as `this trace`. */
  readonly what: string
  /** The place to go to afterwards. */
  readonly then: string
}

const PATH = '/api/forget'

/** Deletes what the service keeps of somebody, after it has asked once more and said how much that is. Files are only read. */
export function ForgetButton({ person, what, then }: ForgetProps) {
  const { overview } = useService()
  const { route } = useLocation()
  const [runs, setRuns] = useState<number>()
  const [error, setError] = useState<string>()
  if (overview?.files !== undefined) return null
  const say = (caught: unknown): void => setError(caught instanceof Error ? caught.message : String(caught))
  const count = (): void => {
    setError(undefined)
    read<{ readonly runs: number }>(PATH, person).then((found) => setRuns(found.runs), say)
  }
  const forget = (): void => {
    ask(`${PATH}${toSearch(person)}`, { method: 'DELETE' }).then(() => route(at(then)), say)
  }
  if (error !== undefined) return <span role="alert">{error}</span>
  if (runs === undefined) {
    return (
      <button type="button" onClick={count}>
        Delete {what}…
      </button>
    )
  }
  return (
    <span role="alert">
      Delete {what} with {plural(runs, 'run')}, its scores and what was said of it? Nothing brings it back.{' '}
      <button type="button" onClick={forget}>
        Delete
      </button>{' '}
      <button type="button" onClick={() => setRuns(undefined)}>
        Keep
      </button>
    </span>
  )
}
