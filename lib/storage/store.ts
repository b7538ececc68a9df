import type * as z from 'zod'

/** What every stored document has: a generated id (never user input) and the number of its revision, from 1. */
export interface Stored {
  readonly id: string
  readonly rev: number
}

/** One change, as data: made by a collection or a log, carried out by `Store.commit`. Opaque to callers. */
export type Write = DocumentWrite | LogWrite

export interface DocumentWrite {
  readonly collection: string
  readonly id: string
  /** Revision that must be there now: 0 = none, undefined = any. */
  readonly expects: number | undefined
  /** The new document without its rev; undefined deletes. */
  readonly value: object | undefined
}

export interface LogWrite {
  readonly log: string
  /** The entry of a number, given the one before it. */
  readonly append?: (seq: number, previous: object | undefined) => object
  readonly forget?: number
}

/** An entry with its number. */
export type Numbered<T> = T & { readonly seq: number }

/**
 * A sequence that only grows at its end. Its entries are numbered from 1, without gaps, in the order in which they were
 * committed; they stay on disk, and are read from there.
 */
export interface Log<T extends object> {
  /**
   * A write that adds an entry, together with whatever else its commit holds. `entry` is called in that commit, with its
   * number and the entry before it; it must be pure.
   */
  append(entry: (seq: number, previous: Numbered<T> | undefined) => T): Write
  /** Up to `limit` entries after a number, oldest first. */
  read(after: number, limit: number): readonly Numbered<T>[]
  /** Up to `limit` entries before a number, newest first. */
  readBack(before: number, limit: number): readonly Numbered<T>[]
  /** The number of the last entry that was ever added; 0 without one. */
  head(): number
  /** The number of the oldest entry that is kept; `head() + 1` without one. */
  first(): number
  /** A write that forgets the entries up to and with a number. The last entry always stays. */
  forget(upTo: number): Write
}

export interface Collection<T extends { readonly id: string }> {
  get(id: string): Promise<(T & Stored) | undefined>
  list(): Promise<readonly (T & Stored)[]>
  /** Unique look-up by an index that was named when the collection was made. */
  find(index: string, value: string): Promise<(T & Stored) | undefined>
  /** A document without `rev` is new and must not exist; one with `rev` replaces that revision. */
  put(document: T & { readonly rev?: number }): Write
  /** Without `rev`: whatever revision is there. */
  remove(document: { readonly id: string; readonly rev?: number }): Write
  /** Reads, applies the pure `change`, commits with what is `beside`; again when somebody was faster. Throws `not-found`. */
  update(id: string, change: (document: T & Stored) => T, beside?: readonly Write[]): Promise<T & Stored>
}

export interface CollectionOptions<T> {
  /** Name → the value under which a document is found; values are unique within the collection (else `conflict`). */
  readonly unique?: Readonly<Record<string, (document: T) => string | undefined>>
}

export interface Store extends AsyncDisposable {
  /** Why the store takes no changes any more; undefined as long as it does. */
  readonly failure: string | undefined
  /** Whether a commit is all-or-none also across a crash. False on drivers without `commit(rows)`. */
  readonly atomic: boolean
  collection<T extends { readonly id: string }>(
    name: string,
    schema: z.ZodType<T>,
    options?: CollectionOptions<T>,
  ): Collection<T>
  log<T extends object>(name: string, schema: z.ZodType<T>): Log<T>
  /** Calls `listener` after each commit, when it is on disk, until disposed. */
  onCommit(listener: () => void): Disposable
  /** All or none, durable when it settles; refuses a stale revision or a broken unique index with `conflict`. */
  commit(writes: readonly Write[]): Promise<void>
}
