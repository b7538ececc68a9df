/** What a provider says of one object. */
export interface ObjectStat {
  readonly path: string
  /** Bytes. */
  readonly size: number
  /** RFC 3339. */
  readonly modifiedAt?: string
  /** Of the whole, lower-case hex, where the provider keeps one. */
  readonly md5?: string
  readonly sha256?: string
}

/** Half open: the bytes `start` to `end` − 1. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Bytes that can be read again from any place: what is sent again, or goes on, reads pieces anew. */
export interface Source {
  readonly size: number
  read(range: ByteRange): ReadableStream<Uint8Array>
  /** A file of this host that has these bytes and never changes: what is kept on its disk may be another name of it. */
  readonly file?: string
}

export interface WriteOptions {
  readonly signal?: AbortSignal
  /** Of the whole, lower-case hex. With it a write that was cut off goes on where it was. */
  readonly sha256?: string
  /** Is told how many bytes are on the provider now, those of an earlier try included. */
  readonly onProgress?: (bytes: number) => void
}

export interface ReadOptions {
  readonly range?: ByteRange
  readonly signal?: AbortSignal
}

/**
 * A place where objects are kept. Paths are relative to the root of the connection: segments joined by `/`, none of them
 * empty, `.` or `..`. Rules that test/contracts/provider.ts holds every provider to:
 * - `write` is atomic: under its name there is the object of before or the whole new one.
 * - A write that was cut off and comes again sends no piece that is there already.
 * - Nothing outside of the root is read, written or listed.
 */
export interface Provider {
  readonly type: string
  stat(path: string, signal?: AbortSignal): Promise<ObjectStat | undefined>
  /** Throws `not-found`, `upstream` for what the peer does wrong; a stream that ends early fails. */
  read(path: string, options?: ReadOptions): Promise<ReadableStream<Uint8Array>>
  /** Throws `upstream`, `no-space`, and `conflict` where the object is being written already, or is not what `sha256` says. */
  write(path: string, source: Source, options?: WriteOptions): Promise<void>
  /** All objects in a folder and below it; `''` is the root. */
  list(folder: string, signal?: AbortSignal): AsyncIterable<ObjectStat>
  /** Removes an object; no error when there is none. */
  remove(path: string, signal?: AbortSignal): Promise<void>
  /** Ends what writes of an object that is there have left: of a storage that keeps that apart from the object. */
  settle?(path: string, signal?: AbortSignal): Promise<void>
}
