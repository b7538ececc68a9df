import type * as z from 'zod'

/** What every stored document has: a generated id (never user input) and the number of its revision, from 1. */
export interface Stored {
  readonly id: string
  readonly rev: number
}

/** One change, as data: made by a collection, carried out by `Store.commit`. Opaque to callers. */
export interface Write {
  readonly collection: string
  readonly id: string
  /** Revision that must be there now: 0 = none, undefined = any. */
  readonly expects: number | undefined
  /** The new document without its rev; undefined deletes. */
  readonly value: object | undefined
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
  /** Reads, applies the pure `change`, commits; again when somebody was faster. Throws `not-found`. */
  update(id: string, change: (document: T & Stored) => T): Promise<T & Stored>
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
  /** All or none, durable when it settles; refuses a stale revision or a broken unique index with `conflict`. */
  commit(writes: readonly Write[]): Promise<void>
}
