// https://www.sqlite.org/rescode.html: the lowest byte is the primary code.
const codeOf = (error: unknown): number => {
  const { errcode }: { errcode?: unknown } = Object(error)
  return typeof errcode === 'number' ? errcode : 0
}

const primaryCode = (error: unknown): number => codeOf(error) & 0xff

/** Whether another process has locked the database (SQLITE_BUSY). */
export const isBusy = (error: unknown): boolean => primaryCode(error) === 5

/** Whether the file is damaged or no database (SQLITE_CORRUPT, SQLITE_NOTADB). */
export const isNoDatabase = (error: unknown): boolean => [11, 26].includes(primaryCode(error))

/** Whether the database is read-only (SQLITE_READONLY). */
export const isReadOnly = (error: unknown): boolean => primaryCode(error) === 8

/** Whether the disk is full (SQLITE_FULL; SQLITE_IOERR_SHMSIZE for the index of a write-ahead log). */
export const isFull = (error: unknown): boolean => primaryCode(error) === 13 || codeOf(error) === 4874
