import { randomInt } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { Forward } from '../../machine-parts.ts'
import type { Qmp } from '../qmp.ts'
import { addForward, listConnectionStates, removeForward } from './monitor.ts'
import { formatHostEnd } from './netdev.ts'

/** Milliseconds that the guest has to accept a connection. */
const connectTimeout = 30_000
/** Milliseconds between two looks at QEMU's connections: the first and the longest. */
const pollDelays = [5, 200] as const
/** How many random ports are tried when one is taken. */
const attempts = 5

/** Opens a forward on an address and a port of the loopback that nobody can guess in the moment in which it is open. */
const openForward = async (qmp: Qmp, card: string, guestPort: number): Promise<Forward> => {
  for (let left = attempts; ; left -= 1) {
    const forward: Forward = {
      protocol: 'tcp',
      host_address: `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`,
      host_port: randomInt(20_000, 60_000),
      guest_port: guestPort,
    }
    try {
      await addForward(qmp, card, forward)
      return forward
    } catch (error) {
      if (!isFault(error, 'conflict') || left === 1) throw error
    }
  }
}

/** Connects, and notices from then on when the other side closes, although nobody reads yet. */
const openSocket = async ({ host_address: host, host_port: port }: Forward): Promise<Socket> => {
  const socket = connect({ host, port, noDelay: true })
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return socket
    .on('error', () => socket.destroy())
    .on('readable', () => void (socket.readableLength === 0 && socket.read()))
}

/**
 * Waits until the guest has accepted the connection. Calls `onAccepted` as soon as QEMU has it. Throws `upstream`, `timeout`, and
 * `conflict` if QEMU has more connections to that port than this one.
 */
const waitForGuest = async (
  socket: Socket,
  forward: Forward,
  listStates: () => Promise<readonly string[]>,
  onAccepted: () => Promise<void>,
): Promise<void> => {
  const { guest_port: port } = forward
  const end = performance.now() + connectTimeout
  for (let delay: number = pollDelays[0]; ; delay = Math.min(2 * delay, pollDelays[1])) {
    const states = await listStates()
    // QEMU accepts connections between two commands. The removal would cut off one that it does not list yet.
    if (states.length > 0) await onAccepted()
    if (states.length > 1)
      throw new ServiceError(
        'conflict',
        `Another program of this host connected to ${formatHostEnd(forward)}, which was open for this tunnel. Try again.`,
      )
    if (socket.readableLength > 0 || states[0] === 'ESTABLISHED') return
    if (socket.destroyed) throw new ServiceError('upstream', `The guest refuses connections to its port ${port}.`)
    if (performance.now() > end)
      throw new ServiceError(
        'timeout',
        `The guest does not answer on its port ${port}. It must have started, and its isolated card must use DHCP.`,
      )
    await wait(delay)
  }
}

/**
 * Opens a connection to a TCP port of the guest over its card `card`. QEMU listens for it on a random port of the loopback, and
 * stops as soon as it has accepted the connection. Throws `upstream` if the guest refuses the connection, `timeout` if it does
 * not answer, and `conflict` if another program of the host has found the port.
 */
export const openTunnel = async (qmp: Qmp, card: string, port: number): Promise<Socket> => {
  const forward = await openForward(qmp, card, port)
  let isOpen = true
  const closeForward = async (): Promise<void> => {
    if (!isOpen) return
    isOpen = false
    await removeForward(qmp, card, formatHostEnd(forward))
  }
  const listStates = (): Promise<readonly string[]> =>
    listConnectionStates(qmp, forward.host_address, forward.host_port)
  let socket: Socket | undefined
  try {
    socket = await openSocket(forward)
    await waitForGuest(socket, forward, listStates, closeForward)
    await closeForward()
    // The port is closed, so this list is final. If QEMU had accepted another connection in place of this one, this one would
    // have ended with the port.
    if ((await listStates()).length > 1 || (socket.destroyed && socket.readableLength === 0))
      throw new ServiceError(
        'conflict',
        'Another program of this host connected to the port of this tunnel. Try again.',
      )
    return socket.removeAllListeners('readable')
  } catch (error) {
    socket?.destroy()
    await closeForward().catch(() => {})
    throw error
  }
}
