import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { connectIn } from './local-socket.ts'

/** O_PATH of Linux, which Node does not name: opens what is at a path without reading it. */
const openPlace = 0x200000

const assertSocket = (path: string, status: Stats): void => {
  if (!status.isSocket()) throw new Error(`${path} is no socket`)
}

/**
 * Connects to the socket `name` in a folder that another account can write to, however long its path is. A link there, which could
 * lead to a socket that is open to this process alone, is refused. Throws as `connect`.
 */
export const connectToOwnSocket = async <T>(
  folder: string,
  name: string,
  connect: (path: string) => Promise<T>,
): Promise<T> => {
  const path = join(folder, name)
  if (process.platform !== 'linux') {
    assertSocket(path, lstatSync(path))
    return connectIn(folder, name, connect)
  }
  const descriptor = openSync(path, openPlace | constants.O_NOFOLLOW)
  try {
    assertSocket(path, fstatSync(descriptor))
    return await connect(`/proc/self/fd/${descriptor}`)
  } finally {
    closeSync(descriptor)
  }
}
