const KEY = 'spanscore-labeller'

/** Who labels in this browser; `''` where nobody has said so. Verdicts on runs that this person is to label are withheld. */
export function labellerName(): string {
  return localStorage.getItem(KEY)?.trim() ?? ''
}

/** Keeps the name for what is asked from now on, and for the next visit. */
export function keepLabellerName(name: string): void {
  localStorage.setItem(KEY, name)
}
