const KEY = 'spanscore-labeller'

/** The name of the person who labels in this browser; `''` without one. Verdicts on runs that this person should label are withheld. */
export function labellerName(): string {
  return localStorage.getItem(KEY)?.trim() ?? ''
}

/** Stores the name for further requests and the next visit. */
export function keepLabellerName(name: string): void {
  localStorage.setItem(KEY, name)
}
