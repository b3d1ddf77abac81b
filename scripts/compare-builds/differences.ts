/** Where two JSON values differ, each place with both values. Texts that are JSON are compared as what they hold. */
export function differencesIn(before: unknown, after: unknown, path = ''): string[] {
  const [left, right] = [parsed(before), parsed(after)]
  if (typeof left === 'object' && left !== null && typeof right === 'object' && right !== null) {
    const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])]
    return keys.flatMap((key) => differencesIn(Reflect.get(left, key), Reflect.get(right, key), `${path}/${key}`))
  }
  return Object.is(left, right) ? [] : [`${path || '/'}: ${shown(left)} → ${shown(right)}`]
}

function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

function shown(value: unknown): string {
  const text = value === undefined ? 'absent' : JSON.stringify(value)
  return text.length > 120 ? `${text.slice(0, 120)}…` : text
}
