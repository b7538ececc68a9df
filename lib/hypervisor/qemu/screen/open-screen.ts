import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { isSystemError } from '#lib/platform/files.ts'
import { connectToOwnSocket } from '#lib/platform/own-socket.ts'
import type { MachineView } from '../../driver.ts'
import { fileNames } from '../file-names.ts'
import { requireScreen } from './require-screen.ts'

/** Milliseconds that QEMU has to accept a viewer, and between two attempts. One viewer at a time can wait for it. */
const [acceptTimeout, retryDelay] = [5_000, 10] as const

const openSocket = (path: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(socket))
    // It may end before somebody uses it.
    socket.on('error', reject)
  })

const createRefusal = (name: string, error: unknown): ServiceError =>
  isSystemError(error, 'ENOENT')
    ? new ServiceError(
        'conflict',
        `${name} was started by an older version of the service. Stop and start it, then its screen can be opened.`,
      )
    : new ServiceError('upstream', `QEMU does not open the screen of ${name}: ${messageOf(error)}`, { cause: error })

/**
 * Connects to the screen of a machine. Throws `conflict` for a machine without a screen, one that does not run, and one that an older
 * version has started without a socket for its screen; and `upstream` if QEMU accepts nobody.
 */
export const openScreen = async (view: MachineView): Promise<Socket> => {
  requireScreen(view)
  const end = performance.now() + acceptTimeout
  for (;;) {
    try {
      return await connectToOwnSocket(view.home, fileNames.screenSocket, openSocket)
    } catch (error) {
      if (!isSystemError(error, 'EAGAIN') || performance.now() > end) throw createRefusal(view.name, error)
    }
    await wait(retryDelay)
  }
}
