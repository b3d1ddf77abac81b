import { expect, it } from 'vitest'

import { PageAudit } from './page-audit.ts'

function noted(): {
  readonly lines: string[]
  readonly note: (method: string, path: string, body?: unknown, user?: string) => void
  nowMs: number
} {
  const lines: string[] = []
  const noting = {
    lines,
    nowMs: 0,
    note: (method: string, path: string, body?: unknown, user = 'ana') => {
      const { pathname, searchParams } = new URL(path, 'http://page')
      audit.note({ 'x-user': user }, { method, path: pathname, query: searchParams, body })
    },
  }
  const audit = new PageAudit(
    'X-User',
    (line) => lines.push(line),
    () => noting.nowMs,
  )
  return noting
}

it('notes what was opened, taken and changed by whom, and no list and no figure', () => {
  const { lines, note } = noted()
  note('GET', '/api/overview')
  note('GET', '/api/runs?agent=shop')
  note('GET', '/api/run?id=t:s')
  note('GET', '/api/conversation?key=c1')
  note('GET', '/api/labels/export?scorer=loop')
  note('POST', '/api/labels', { runId: 't:s', scorer: 'loop', label: 'fail', note: 'My secret note.' })
  note('POST', '/api/trials', { scorer: 'loop', runIds: ['a', 'b'] })
  note('DELETE', '/api/forget?user=u1')
  expect(lines).toEqual([
    'ana opened run t:s',
    'ana opened conversation c1',
    'ana downloaded labels loop',
    'ana labelled run t:s loop',
    'ana tried a scorer loop a b',
    'ana deleted u1',
  ])
})

it('notes a search of texts without the text', () => {
  const { lines, note } = noted()
  note('GET', '/api/runs?text=my+passport')
  note('GET', '/api/runs?text=my+passport')
  note('GET', '/api/conversations?text=other')
  expect(lines).toEqual(['ana searched texts', 'ana searched texts'])
})

it('notes what stays open once in ten minutes after it was last read', () => {
  const noting = noted()
  for (let minute = 0; minute < 30; minute += 5) {
    noting.nowMs = minute * 60_000
    noting.note('GET', '/api/run?id=t:s')
  }
  noting.nowMs += 11 * 60_000
  noting.note('GET', '/api/run?id=t:s')
  expect(noting.lines).toHaveLength(2)
})

it('writes a user on one safe line of bounded length', () => {
  const { lines, note } = noted()
  note('GET', '/api/run?id=1', undefined, `eve\n\u001B[2Jaudit: bob ${'x'.repeat(500)}`)
  note('GET', '/api/run?id=2', undefined, '')
  expect(lines[0]).toMatch(/^eve audit: bob x+ opened run 1$/)
  expect(lines[0]?.length).toBeLessThan(230)
  expect(lines[1]).toBe('nobody (no header) opened run 2')
  note('GET', '/api/conversation?key=a%0Aaudit:%20bob')
  expect(lines[2]).toBe('ana opened conversation a audit: bob')
})
