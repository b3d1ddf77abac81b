import { stripVTControlCharacters } from 'node:util'

import type { Reporter } from 'spanscore/engine'

/** Characters of a line. */
const MAX_LINE = 1000

/**
 * A line without control characters and direction marks. Messages may quote what a destination answered, which must neither begin a line of its
 * own nor move the cursor.
 */
export function reportLine(text: string): string {
  const line = stripVTControlCharacters(text.slice(0, 4 * MAX_LINE))
    .replaceAll(/\s+/g, ' ')
    .replaceAll(HOSTILE, '')
    .trim()
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE).toWellFormed()}…` : line
}

// oxlint-disable-next-line no-control-regex -- the pattern is about control characters
const HOSTILE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/** How serious a line is, from the least: `warn` says that something does not work as it should. */
export const LOG_LEVELS = ['info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** What a line is about, for programs that read it: a notice, or `audit`, which says who opened, took or changed something on the page. */
export type LogCode = 'audit' | Parameters<Reporter['notify']>[0]

/** Takes a line for the operator. */
export type Report = (line: string, level?: LogLevel, code?: LogCode) => void

/** Reports each line at most once in ten seconds, as a safe line that says that something is wrong. */
export function rateLimited(report: Report, code?: LogCode): (line: string) => void {
  const latest = new Map<string, number>()
  return (given) => {
    const line = reportLine(given)
    const atMs = Date.now()
    if (atMs - (latest.get(line) ?? Number.NEGATIVE_INFINITY) < 10_000) return
    if (latest.size > 100) latest.clear()
    latest.set(line, atMs)
    report(line, 'warn', code)
  }
}
