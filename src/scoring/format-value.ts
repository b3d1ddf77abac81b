/** A value as a message shows it: short, on one line, whatever it is. Never throws. */
export function show(value: unknown, maxLength = 80): string {
  const text = toText(value)
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`
}

function toText(value: unknown): string {
  switch (typeof value) {
    case 'function':
      return value.name === '' ? 'a function' : `the function ${value.name}`
    case 'string':
      return JSON.stringify(value.length > 1000 ? value.slice(0, 1000) : value)
    case 'object':
      return value instanceof Error ? `${value.name}: ${value.message}` : toJson(value)
    default:
      // Numbers that are not finite, undefined, symbols and big integers have no JSON form.
      return String(value)
  }
}

function toJson(value: object | null): string {
  try {
    return JSON.stringify(value)
  } catch {
    return Object.prototype.toString.call(value)
  }
}
