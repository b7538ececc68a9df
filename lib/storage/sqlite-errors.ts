// https://www.sqlite.org/rescode.html: the lowest byte is the primary code.
const getCode = (error: unknown): number => {
  const { errcode }: { errcode?: unknown } = Object(error)
  return typeof errcode === 'number' ? errcode : 0
}

const getPrimaryCode = (error: unknown): number => getCode(error) & 0xff

/** Whether another process has locked the database (SQLITE_BUSY). */
export const isBusy = (error: unknown): boolean => getPrimaryCode(error) === 5

/** Whether the file is damaged or no database (SQLITE_CORRUPT, SQLITE_NOTADB). */
export const isNoDatabase = (error: unknown): boolean => [11, 26].includes(getPrimaryCode(error))

/** Whether the database is read-only (SQLITE_READONLY). */
export const isReadOnly = (error: unknown): boolean => getPrimaryCode(error) === 8

/** Whether the disk is full (SQLITE_FULL; SQLITE_IOERR_SHMSIZE for the index of a write-ahead log). */
export const isFull = (error: unknown): boolean => getPrimaryCode(error) === 13 || getCode(error) === 4874
