import { randomUUID } from 'node:crypto'

import type { PageAnswers, ServiceOverview } from '../../../server/src/page/answers.ts'
import { UsageError } from '../usage-error.ts'

/** A query of the page's interface, or of the address of a view. Absent values are left out. */
export type PageQuery = Readonly<Record<string, string | number | undefined>>

/** The way to the page's reading interface: over HTTP, or in this process. */
export interface PageSource {
  /** The origin of the page in a browser; `undefined` if there is none. */
  readonly origin?: string
  /** The JSON that a path answers. @throws UsageError why there is none, and what to do */
  ask(path: string, search: URLSearchParams): Promise<unknown>
}

/** The client of the page's reading interface. */
export class PageClient {
  readonly #source: PageSource
  /** Scores that were drawn are withheld from people who have yet to label them: nobody of this name has, so it sees what everybody may see. */
  readonly #labeller = `mcp ${randomUUID()}`

  constructor(source: PageSource) {
    this.#source = source
  }

  async ask<Path extends keyof PageAnswers>(path: Path, query: PageQuery = {}): Promise<PageAnswers[Path]> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `overview` refuses a page of another version
    return (await this.#source.ask(path, searchOf({ ...query, labeller: this.#labeller }))) as PageAnswers[Path]
  }

  /** What there is. @throws UsageError if the page is of another version */
  async overview(version: string): Promise<ServiceOverview> {
    const overview = await this.ask('/api/overview')
    const theirs: unknown = overview.version
    if (theirs === version) return overview
    throw new UsageError(
      `The page is of spanscore ${String(theirs)}, this command of ${version}: use @spanscore/cli of the page's version`,
    )
  }

  /** The address of a view; `undefined` without a page or a query, or if it would be too long. */
  link(path: string, query: PageQuery | undefined): string | undefined {
    const search = searchOf(query ?? {}).toString()
    const address = `${this.#source.origin}${path}${search === '' ? '' : `?${search}`}`
    return this.#source.origin === undefined || query === undefined || address.length > 500 ? undefined : address
  }
}

function searchOf(query: PageQuery): URLSearchParams {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  return new URLSearchParams(given.map(([key, value]): [string, string] => [key, String(value)]))
}
