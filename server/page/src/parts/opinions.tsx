import type { ListedRun } from '../api.ts'
import { score } from '../format.ts'

type Opinion = ListedRun['opinions'][number]

const SIGNS: Readonly<Record<Opinion['opinion'], readonly [sign: string, word: string]>> = {
  disliked: ['👎', 'a user dislikes it'],
  liked: ['👍', 'a user likes it'],
  rated: ['★', 'a user rates it'],
}

interface OpinionsProps {
  readonly opinions: readonly Opinion[]
  /** Whether more than three are shown. */
  readonly isWhole?: boolean
}

/** What users say of a run. */
export function Opinions({ opinions, isWhole = false }: OpinionsProps) {
  return (
    <>
      {opinions.slice(0, isWhole ? opinions.length : 3).map(({ opinion, name, value, comment }, index) => {
        const [sign, word] = SIGNS[opinion]
        return (
          <span
            key={index}
            class="mark none"
            title={`${word}: ${name} ${value ?? ''}${comment === null ? '' : `: ${comment}`}`}
          >
            <span role="img" aria-label={word}>
              {sign}
            </span>{' '}
            {opinion === 'rated' && value !== null && score(value)}
            {comment !== null && <bdi class="name">{comment}</bdi>}
          </span>
        )
      })}
    </>
  )
}
