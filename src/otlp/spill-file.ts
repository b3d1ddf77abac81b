import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import type { SourceSpan } from '../spans/source-span.ts'
import type { ArchiveEntry, Position } from './archive-entry.ts'

/** Above this number, resources and scopes are written with their span instead of being shared. */
const MAX_SHARED = 1000

const WRITE_BYTES = 4 * 1024 * 1024

type Resource = SourceSpan['resource']
type Scope = SourceSpan['scope']

/** An entry as written to the file: resource and scope are numbers. */
interface SpilledEntry extends Omit<ArchiveEntry, 'span'> {
  readonly span?: Omit<SourceSpan, 'resource' | 'scope'>
  readonly resource?: Resource | number
  readonly scope?: Scope | number
}

/** Entries in a temporary file that only this process can read. It is unlinked as soon as it is open. */
export class SpillFile {
  readonly #directory = mkdtempSync(join(tmpdir(), 'spanscore-'))
  readonly #descriptor = openSync(join(this.#directory, 'spans'), 'w+', 0o600)
  readonly #resources = new SharedValues<Resource>()
  readonly #scopes = new SharedValues<Scope>()
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #offset = 0

  constructor() {
    try {
      rmSync(this.#directory, { recursive: true })
    } catch {
      // On systems that cannot remove an open file, `close` removes it.
    }
  }

  write(entry: ArchiveEntry): Position {
    const bytes = serialize(this.#toSpilled(entry))
    const position = { offset: this.#offset, length: bytes.length }
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    this.#offset += bytes.length
    if (this.#waitingBytes >= WRITE_BYTES) this.flush()
    return position
  }

  /** Writes out pending entries; required before `read`. */
  flush(): void {
    const bytes = Buffer.concat(this.#waiting)
    for (let written = 0; written < bytes.length;) written += writeSync(this.#descriptor, bytes, written)
    this.#waiting = []
    this.#waitingBytes = 0
  }

  read(position: Position): ArchiveEntry {
    const bytes = Buffer.allocUnsafe(position.length)
    readSync(this.#descriptor, bytes, 0, position.length, position.offset)
    const { span, resource, scope, ...rest }: SpilledEntry = deserialize(bytes)
    if (span === undefined || resource === undefined || scope === undefined) return rest
    return {
      ...rest,
      span: { ...span, resource: this.#resources.restore(resource), scope: this.#scopes.restore(scope) },
    }
  }

  close(): void {
    closeSync(this.#descriptor)
    rmSync(this.#directory, { recursive: true, force: true })
  }

  #toSpilled(entry: ArchiveEntry): SpilledEntry {
    if (entry.span === undefined) return entry
    const { resource, scope, ...span } = entry.span
    return { ...entry, span, resource: this.#resources.share(resource), scope: this.#scopes.share(scope) }
  }
}

/** Values shared by thousands of spans, stored once and referenced by number. */
class SharedValues<T extends object> {
  readonly #values: T[] = []
  readonly #byText = new Map<string, number>()
  readonly #byIdentity = new WeakMap<T, number>()

  share(value: T): T | number {
    const known = this.#byIdentity.get(value)
    if (known !== undefined) return known
    const text = JSON.stringify(value)
    let number = this.#byText.get(text)
    if (number === undefined) {
      if (this.#values.length === MAX_SHARED) return value
      number = this.#values.push(value) - 1
      this.#byText.set(text, number)
    }
    this.#byIdentity.set(value, number)
    return number
  }

  restore(value: T | number): T {
    if (typeof value !== 'number') return value
    const shared = this.#values[value]
    if (shared === undefined)
      throw new RangeError(`the temporary file names a shared value ${value} that was never written`)
    return shared
  }
}
