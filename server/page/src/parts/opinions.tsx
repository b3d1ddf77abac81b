import type { ListedRun } from '../api.ts'
import { score } from '../format.ts'

type Opinion = ListedRun['opinions'][number]

const SIGNS: Readonly<Record<Opinion['opinion'], readonly [sign: string, word: string]>> = {
  disliked: ['👎', 'a user dislikes it'],
  liked: ['👍', 'a user likes it'],
  rated: ['★', 'a user rates it'],
}

/** What users say of a run, in a line; their words on hover. */
export function Opinions({ opinions }: { readonly opinions: readonly Opinion[] }) {
  return (
    <>
      {opinions.slice(0, 3).map(({ opinion, name, value, comment }, index) => {
        const [sign, word] = SIGNS[opinion]
        return (
          <span
            key={index}
            class="mark none"
            title={`${word}: ${name} ${value ?? ''}${comment === null ? '' : `: ${comment}`}`}
          >
            <span role="img" aria-label={word}>
              {sign}
            </span>
            {opinion === 'rated' && value !== null && score(value)}
            {comment !== null && <span aria-hidden="true">“…”</span>}
          </span>
        )
      })}
    </>
  )
}
