const STATUS: Readonly<Record<string, readonly [sign: string, tone: string]>> = {
  ok: ['●', 'ok'],
  error: ['▲', 'fail'],
  aborted: ['■', 'warn'],
  waiting: ['…', 'warn'],
}

/** The sign of a run's status, and its tone. */
export function runStatusOf(status: string): readonly [sign: string, tone: string] {
  return STATUS[status] ?? ['○', 'none']
}
