import { limitedFetch } from './limited-fetch.ts'

/** What a server expects of each request, beyond what the provider's package sends. */
export interface Addressing {
  /** The query of the base URL, such as `?api-version=v1`; `''` for none. */
  readonly query: string
  /** The header of the key in place of `Authorization`. */
  readonly keyHeader?: { readonly name: string; readonly key: string } | undefined
}

/** Like `limitedFetch`, with the query of the base URL behind the path, and the key in the header that the server expects. */
export function addressedFetch({ query, keyHeader }: Addressing): typeof limitedFetch {
  return (input, init) => {
    const request = new Request(input, init)
    const url = new URL(request.url)
    for (const [name, value] of new URLSearchParams(query)) url.searchParams.append(name, value)
    const headers = new Headers(request.headers)
    if (keyHeader !== undefined) {
      headers.delete('authorization')
      headers.set(keyHeader.name, keyHeader.key)
    }
    return limitedFetch(url, { ...init, headers })
  }
}
