/** The share of chosen runs that may be refused because the window happens to be full. */
const REFUSED_SHARE = 0.02

/**
 * The share of a limit that can be spent if scores arrive at random and at most `REFUSED_SHARE` of them may find the window full
 * (Erlang's loss formula): .02 of a limit of one score, .21 of three, .5 of ten, .82 of sixty.
 */
export function pacedShare(scores: number): number {
  let low = 0
  let high = scores
  for (let step = 0; step < 40; step += 1) {
    const offered = (low + high) / 2
    let blocked = 1
    for (let servers = 1; servers <= scores; servers += 1) blocked = (offered * blocked) / (servers + offered * blocked)
    if (blocked > REFUSED_SHARE) high = offered
    else low = offered
  }
  return low / scores
}
