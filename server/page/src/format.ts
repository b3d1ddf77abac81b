/** `1.2 s`, `340 ms`, `3 min`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return '–'
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`
}

/** The time since a moment, such as `5 min`. */
export function ago(thenMs: number, nowMs: number): string {
  const seconds = Math.max(0, (nowMs - thenMs) / 1000)
  if (seconds < 5) return 'now'
  if (seconds < 60) return `${Math.floor(seconds)} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`
}

const dateTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const hours = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

/** `15:04`, with the day if it is another one. */
export function clock(ms: number): string {
  const isToday = day.format(ms) === day.format(Date.now())
  return isToday ? hours.format(ms) : `${hours.format(ms)} on ${day.format(ms)}`
}

export function time(ms: number): string {
  return dateTime.format(ms)
}

/** A score in the scorer's own units. */
export function score(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2)
}

/** A share with one digit more if it is small: `95 %`, `3.7 %`. */
export function percent(share: number): string {
  const hundredths = 100 * share
  return `${hundredths > 0 && hundredths < 10 ? Number(hundredths.toFixed(1)) : Math.round(hundredths)} %`
}

/** A text as a heading. */
export function headOf(text: string): string {
  return text.length > 160 ? `${text.slice(0, 160).toWellFormed()}…` : text
}

export function usd(value: number): string {
  if (value === 0) return '$0'
  return value < 0.01 ? `$${Number(value.toPrecision(1))}` : `$${value.toFixed(2)}`
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export function count(value: number): string {
  return compact.format(value)
}

export function plural(value: number, noun: string): string {
  return `${value.toLocaleString('en')} ${noun}${value === 1 ? '' : 's'}`
}
