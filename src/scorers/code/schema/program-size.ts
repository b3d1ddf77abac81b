/**
 * Estimates how many instructions a pattern compiles to, without compiling it: repetitions multiply, so that `((a{1,30}){1,30}){1,30}` is
 * only short as text. `undefined` if the parentheses do not match.
 */
export function programSizeOf(pattern: string): number | undefined {
  /** The sizes of the open groups, outermost first, and of the last atom in the innermost one. */
  const groups = [0]
  let atom = 0
  const close = (): void => {
    groups[groups.length - 1] = (groups.at(-1) ?? 0) + atom
    atom = 0
  }
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at]
    if (char === '(') {
      close()
      groups.push(2)
    } else if (char === ')') {
      close()
      const group = groups.pop()
      if (group === undefined || groups.length === 0) return undefined
      atom = group
    } else if (char === '{') {
      const repeat = /^\{(\d{1,6})(?:,(\d{0,6}))?\}/.exec(pattern.slice(at, at + 16))
      if (repeat === null) return undefined
      atom *= Math.max(1, Number(repeat[2] === undefined || repeat[2] === '' ? repeat[1] : repeat[2])) + 1
      at += repeat[0].length - 1
    } else if (char === '*' || char === '+' || char === '?') {
      atom += 1
    } else {
      close()
      atom = 1
      if (char === '\\') at += 1
      else if (char === '[') at = endOfClass(pattern, at)
    }
  }
  close()
  return groups.length === 1 ? groups[0] : undefined
}

/** Index of the bracket that ends a class, or of the last character. */
function endOfClass(pattern: string, start: number): number {
  for (let at = start + 1; at < pattern.length; at += 1) {
    if (pattern[at] === '\\') at += 1
    else if (pattern[at] === ']') return at
  }
  return pattern.length - 1
}
