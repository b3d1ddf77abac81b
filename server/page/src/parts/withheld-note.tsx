import { plural } from '../format.ts'

/** States that drawn runs are left out, because the view would reveal their verdicts. */
export function WithheldNote({ count, scorer }: { readonly count: number | undefined; readonly scorer: string }) {
  if (count === undefined || count === 0) return null
  return (
    <p class="note">
      {plural(count, 'run')} {count === 1 ? 'was' : 'were'} drawn to be labelled, and {count === 1 ? 'is' : 'are'} left
      out until then. <a href={`/labels?scorer=${encodeURIComponent(scorer)}`}>Label {count === 1 ? 'it' : 'them'}</a>
    </p>
  )
}
