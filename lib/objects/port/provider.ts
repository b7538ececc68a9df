/** Metadata of one object. */
export interface ObjectStat {
  readonly path: string
  /** Bytes. */
  readonly size: number
  /** RFC 3339. */
  readonly modifiedAt?: string
  /** Of the whole object, lower-case hex, when the provider stores one. */
  readonly md5?: string
  readonly sha256?: string
  /** Identifies the current version of the object; each write makes another one. Left out in lists. */
  readonly version?: string
}

/** Half open: the bytes `start` to `end` − 1. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Bytes of which any range can be read again, so that a write can retry or resume. */
export interface Source {
  readonly size: number
  read(range: ByteRange): ReadableStream<Uint8Array>
  /** A file of this host with these bytes, which never changes: local storage may store a hard link to it. */
  readonly file?: string
}

export interface WriteOptions {
  readonly signal?: AbortSignal
  /** Of the whole object, lower-case hex. With it an interrupted write resumes. */
  readonly sha256?: string
  /** Called with the number of bytes on the provider so far, those of an earlier attempt included. */
  readonly onProgress?: (bytes: number) => void
  /**
   * The version that this write replaces; null when the object must not exist. A storage without conditional requests checks
   * it right before the object is replaced.
   */
  readonly replaces?: string | null
}

export interface ReadOptions {
  readonly range?: ByteRange
  readonly signal?: AbortSignal
}

export interface RemoveOptions {
  /** Whether what interrupted writes have left stays: the object is being written. */
  readonly keepsUploads?: boolean
}

/**
 * Stores objects. Paths are relative to the root of the connection: segments joined by `/`, none of them empty, `.` or `..`.
 * test/contracts/provider.ts checks these rules for every provider:
 * - `write` is atomic: a reader gets the whole old object or the whole new one.
 * - A retried write does not send the parts again that an interrupted write has sent.
 * - Nothing outside of the root is read, written or listed.
 */
export interface Provider {
  readonly type: string
  stat(path: string, signal?: AbortSignal): Promise<ObjectStat | undefined>
  /** Throws `not-found`, and `upstream` for errors of the storage; the stream fails when it ends early. */
  read(path: string, options?: ReadOptions): Promise<ReadableStream<Uint8Array>>
  /**
   * Throws `upstream`, `no-space`, `conflict` when the bytes do not match `sha256`, and `precondition-failed` when the stored
   * object is not the one that `replaces` names. An object must not be written twice at the same time: `guardWrites` makes the
   * second write a `conflict`.
   */
  write(path: string, source: Source, options?: WriteOptions): Promise<void>
  /** All objects in a folder and below it; `''` is the root. */
  list(folder: string, signal?: AbortSignal): AsyncIterable<ObjectStat>
  /** Removes an object, and what interrupted writes of it have left; no error when there is none. */
  remove(path: string, signal?: AbortSignal, options?: RemoveOptions): Promise<void>
  /**
   * Removes up to a thousand objects in one request; no error for missing ones. Only for objects that were written in one
   * request, as chunks are. Without this method the caller removes them one by one.
   */
  removeMany?(paths: readonly string[]): Promise<void>
  /** Removes what interrupted writes of an object have left, for storages that keep it apart from the object. It must not be written at the same time. */
  cleanUpUploads?(path: string, signal?: AbortSignal): Promise<void>
}
