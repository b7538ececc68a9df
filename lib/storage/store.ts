import type * as z from 'zod'

/** The members of every stored document: a generated id (never user input) and its revision number, from 1. */
export interface Stored {
  readonly id: string
  readonly rev: number
}

/** One change of the store, as data. A collection, a log or texts make it, and `Store.commit` applies it. Callers do not look into it. */
export type Write = DocumentWrite | LogWrite | TextWrite

export interface DocumentWrite {
  readonly collection: string
  readonly id: string
  /** The revision that the stored document must have: 0 = it must not exist, undefined = any. */
  readonly expectedRev: number | undefined
  /** The new document without its `rev`. Undefined deletes the document. */
  readonly value: object | undefined
}

export interface TextWrite {
  /** The name of the texts. */
  readonly texts: string
  readonly id: string
  /** Undefined deletes the text. */
  readonly text: string | undefined
}

/** Long texts, each under the id of a document. The store reads them from disk each time and does not hold them in memory. */
export interface Texts {
  /** Reads the text of an id; undefined when there is none. */
  read(id: string): Promise<string | undefined>
  /** Makes a write that stores the text, also in place of another one. */
  put(id: string, text: string): Write
  remove(id: string): Write
}

export interface LogWrite {
  /** The name of the log. */
  readonly log: string
  /** Makes the entry from its number and the previous entry. */
  readonly append?: (seq: number, previous: object | undefined) => object
  /** Deletes the entries up to and including this number. */
  readonly forgetUpTo?: number
}

/** An entry with its number. */
export type Numbered<T> = T & { readonly seq: number }

/**
 * A sequence of entries that only grows. The store numbers them from 1, without gaps, in the order of their commits. It reads
 * them from disk each time and does not hold them in memory.
 */
export interface Log<T extends object> {
  /**
   * Makes a write that appends an entry. The commit calls `entry` with the number of the new entry and the previous entry;
   * `entry` must be pure.
   */
  append(entry: (seq: number, previous: Numbered<T> | undefined) => T): Write
  /** Reads up to `limit` entries after a number, oldest first. */
  read(after: number, limit: number): readonly Numbered<T>[]
  /** Reads up to `limit` entries before a number, newest first. */
  readBack(before: number, limit: number): readonly Numbered<T>[]
  /** The number of the last entry that was ever appended; 0 when there was none. */
  head(): number
  /** The number of the oldest stored entry; `head() + 1` when there is none. */
  first(): number
  /** Makes a write that deletes the entries up to and including a number. The last entry always stays. */
  forget(upTo: number): Write
}

export interface Collection<T extends { readonly id: string }> {
  get(id: string): Promise<(T & Stored) | undefined>
  /** Like `get`, but synchronous: documents are held in memory. */
  getSync(id: string): (T & Stored) | undefined
  list(): Promise<readonly (T & Stored)[]>
  /** Finds a document by the value of a unique index that was named when the collection was opened. */
  find(index: string, value: string): Promise<(T & Stored) | undefined>
  /** Makes a write of a document. Without `rev` the document must not exist yet; with `rev` it replaces that revision. */
  put(document: T & { readonly rev?: number }): Write
  /** Makes a write that deletes a document. Without `rev` it deletes any revision. */
  remove(document: { readonly id: string; readonly rev?: number }): Write
  /** Reads a document, applies the pure `change` and commits it with `otherWrites`. Retries when the document was changed meanwhile. Throws `not-found`. */
  update(
    id: string,
    change: (document: T & Stored) => T,
    otherWrites?: readonly Write[],
    options?: CommitOptions,
  ): Promise<T & Stored>
}

export interface CollectionOptions<T> {
  /** Unique indexes: name → the document's value in it. A commit with a duplicate value throws `conflict`. */
  readonly unique?: Readonly<Record<string, (document: T) => string | undefined>>
}

/** Options of a commit. */
export interface CommitOptions {
  /**
   * The commit revokes something (a sign-out, a revocation, a right) or records what was done, so it may use the disk reserve
   * when the disk is full. Never set it for commits that anybody can cause without a limit.
   */
  readonly essential?: boolean
}

export interface Store extends AsyncDisposable {
  /** Why the store takes no changes now; undefined while it takes them. After a full disk the store recovers by itself. */
  readonly failure: string | undefined
  /** The first damage that the store has found in logs and texts since it opened. It reads those on demand, so it finds damage late. */
  readonly damage: string | undefined
  /**
   * True if a call may start now because the disk has room for the essential commit at its end, such as its audit entry. A call
   * that is not `essential` itself needs more room.
   */
  hasRoomForFollowUp(essential: boolean): boolean
  /** True if commits are atomic even across a crash. They are not with a driver that lacks `commit(rows)`. */
  readonly atomic: boolean
  collection<T extends { readonly id: string }>(
    name: string,
    schema: z.ZodType<T>,
    options?: CollectionOptions<T>,
  ): Collection<T>
  log<T extends object>(name: string, schema: z.ZodType<T>): Log<T>
  texts(name: string): Texts
  /** Calls `listener` after each durable commit, until disposed. */
  onCommit(listener: () => void): Disposable
  /**
   * Commits the writes, all or nothing; durable when the promise resolves. Throws `conflict` for a stale revision or a
   * duplicate unique value, and `no-space` when the disk is full.
   */
  commit(writes: readonly Write[], options?: CommitOptions): Promise<void>
}
