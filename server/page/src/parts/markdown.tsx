import { Fragment } from 'preact'
import type { ComponentChildren } from 'preact'

import { Table, texts } from './table.tsx'

const ITEM = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)/
const HEADING = /^\s{0,3}#{1,6}\s+(.*)/
const FENCE = /^\s*(?:```|~~~)/
const QUOTE = /^\s{0,3}>\s?/
const RULE = /^\s{0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/
const EMPHASIS = /`([^`]+)`|\*\*(\S(?:[^*]|\*(?!\*))*)\*\*|\*([^*\s][^*]*)\*/

/** What is nested deeper is shown as it is. */
const MAX_DEPTH = 6

/** Whether a text looks like Markdown. */
export function isMarkdown(text: string): boolean {
  return text
    .split('\n')
    .some((line) => isTableRule(line) || [ITEM, HEADING, FENCE, QUOTE, EMPHASIS].some((sign) => sign.test(line)))
}

/**
 * The Markdown that models write, as elements: emphasis, code, headings, lists, quotes and tables. Links, images and HTML stay text, so that
 * nothing loads, and nothing leads away.
 */
export function Markdown({ text }: { readonly text: string }) {
  return <div class="markdown">{blocksOf(text.split('\n'), 0)}</div>
}

function blocksOf(lines: readonly string[], depth: number): ComponentChildren {
  if (depth > MAX_DEPTH) return <p class="text">{lines.join('\n')}</p>
  const blocks: ComponentChildren[] = []
  for (let at = 0; at < lines.length;) {
    const [block, length] = blockAt(lines, at, depth)
    blocks.push(<Fragment key={at}>{block}</Fragment>)
    at += length
  }
  return blocks
}

/** The block that begins at a line, and how many lines it has. */
function blockAt(lines: readonly string[], at: number, depth: number): readonly [ComponentChildren, number] {
  const line = lines[at] ?? ''
  /** How many of the following lines belong to it. */
  const countWhile = (belongs: (following: string, index: number) => boolean) => {
    const end = lines.findIndex((following, index) => index > at && !belongs(following, index))
    return (end < 0 ? lines.length : end) - at
  }
  if (line.trim() === '') return ['', 1]
  if (FENCE.test(line)) {
    const length = countWhile((following) => !FENCE.test(following))
    return [<pre class="json">{lines.slice(at + 1, at + length).join('\n')}</pre>, length + 1]
  }
  const heading = HEADING.exec(line)?.[1]
  if (heading !== undefined) {
    // The headings of the page are its own.
    return [
      <p>
        <b>{inline(heading, depth)}</b>
      </p>,
      1,
    ]
  }
  if (RULE.test(line)) return [<hr />, 1]
  if (QUOTE.test(line)) {
    const length = countWhile((following) => QUOTE.test(following))
    const inside = lines.slice(at, at + length).map((each) => each.replace(QUOTE, ''))
    return [<blockquote>{blocksOf(inside, depth + 1)}</blockquote>, length]
  }
  const [isItem, indent = '', number] = ITEM.exec(line) ?? []
  if (isItem !== undefined) {
    const isInside = (following: string) =>
      following.trim() === '' || following.search(/\S/) > indent.length || isItemAt(following, indent)
    const length = countWhile(isInside)
    const items: string[][] = []
    for (const each of lines.slice(at, at + length)) {
      if (isItemAt(each, indent)) items.push([ITEM.exec(each)?.[3] ?? ''])
      else items.at(-1)?.push(each.slice(indent.length).replace(/^ {1,4}|^\t/, ''))
    }
    const shown = items.map((item, index) => (
      <li key={index}>{item.length === 1 ? inline(item[0] ?? '', depth) : blocksOf(item, depth + 1)}</li>
    ))
    return [number === undefined ? <ul>{shown}</ul> : <ol start={Number(number)}>{shown}</ol>, length]
  }
  if (line.includes('|') && isTableRule(lines[at + 1] ?? '')) {
    const length = countWhile((following) => following.includes('|'))
    return [
      <Table label="A table of the answer" heads={texts(...cellsOf(line).map((cell) => inline(cell, depth)))}>
        {lines.slice(at + 2, at + length).map((row, place) => (
          <tr key={place}>
            {cellsOf(row).map((cell, index) => (
              <td key={index}>{inline(cell, depth)}</td>
            ))}
          </tr>
        ))}
      </Table>,
      length,
    ]
  }
  const length = countWhile(
    (following) => following.trim() !== '' && ![FENCE, HEADING, QUOTE, ITEM].some((sign) => sign.test(following)),
  )
  return [<p class="text">{inline(lines.slice(at, at + length).join('\n'), depth)}</p>, length]
}

function isItemAt(line: string, indent: string): boolean {
  return ITEM.exec(line)?.[1] === indent
}

/** Whether a line divides the head of a table from its rows. */
function isTableRule(line: string): boolean {
  return line.includes('|') && cellsOf(line).every((cell) => /^:?-+:?$/.test(cell))
}

function cellsOf(row: string): readonly string[] {
  return row
    .trim()
    .replaceAll(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim())
}

/** A text with its emphasis and code. */
function inline(text: string, depth: number): ComponentChildren {
  const parts: ComponentChildren[] = []
  let rest = text
  for (let found = EMPHASIS.exec(rest); found !== null; found = EMPHASIS.exec(rest)) {
    const [whole, code, strong, emphasis = ''] = found
    const inside = (part: string) => (depth >= MAX_DEPTH ? part : inline(part, depth + 1))
    parts.push(
      rest.slice(0, found.index),
      code !== undefined ? (
        <code>{code}</code>
      ) : strong !== undefined ? (
        <b>{inside(strong)}</b>
      ) : (
        <em>{inside(emphasis)}</em>
      ),
    )
    rest = rest.slice(found.index + whole.length)
  }
  return [...parts, rest]
}
