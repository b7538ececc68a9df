import { setTimeout as wait } from 'node:timers/promises'
import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import type { Forward } from '../../machine-parts.ts'
import type { Qmp } from '../qmp.ts'
import { formatHostEnd, formatRule } from './netdev.ts'

/** The commands about QEMU's own network exist only in its monitor for people, which answers with text. */
const runCommand = async (qmp: Qmp, line: string): Promise<string> =>
  z
    .string()
    .parse(await qmp.execute('human-monitor-command', { 'command-line': line }))
    .trim()

/**
 * Opens a port of the host that leads to the guest. `card` is the name of the card that the forward goes over. Throws `conflict`
 * if QEMU cannot open the port.
 */
export const addForward = async (qmp: Qmp, card: string, forward: Forward): Promise<void> => {
  const answer = await runCommand(qmp, `hostfwd_add ${card} ${formatRule(forward)}`)
  if (answer !== '') throw createTakenPortError(formatHostEnd(forward))
}

/** Closes the port of a forward. Connections that exist stay. Throws `upstream` if QEMU has no such forward. */
export const removeForward = async (qmp: Qmp, card: string, hostEnd: string): Promise<void> => {
  const answer = await runCommand(qmp, `hostfwd_remove ${card} ${hostEnd}`)
  // QEMU says "host forwarding rule for … removed", or "… not found".
  if (!answer.endsWith('removed')) throw new ServiceError('upstream', `QEMU refused: ${answer.slice(0, 200)}.`)
}

/** The error for a port of the host that QEMU could not open. `hostEnd` is PROTOCOL:ADDRESS:PORT. */
export const createTakenPortError = (hostEnd: string): ServiceError =>
  new ServiceError(
    'conflict',
    `The port ${hostEnd} cannot be opened: another program of this host has it, or the host has no such address. Choose another port.`,
  )

/** Finds the refused forward in the last message of a QEMU that did not start. */
export const explainTakenPort = (message: string): ServiceError | undefined => {
  const [, hostEnd] = /could not set up host forwarding rule '((?:tcp|udp):[0-9.]+:[0-9]+)-/i.exec(message) ?? []
  return hostEnd === undefined ? undefined : createTakenPortError(hostEnd)
}

/** Returns the states of the TCP connections of guests whose end on the host has this address and port. */
export const listConnectionStates = async (qmp: Qmp, address: string, port: number): Promise<readonly string[]> =>
  // A line is "TCP[STATE] FD SOURCE-ADDRESS SOURCE-PORT DESTINATION-ADDRESS PORT RECEIVED SENT".
  (await runCommand(qmp, 'info usernet')).split('\n').flatMap(line => {
    const [, state, from, at] = /^\s*TCP\[([A-Z_0-9]+)\]\s+-?\d+\s+(\S+)\s+(\d+)\s/.exec(line) ?? []
    return state !== undefined && state !== 'HOST_FORWARD' && from === address && Number(at) === port ? [state] : []
  })

/** Returns the names of the sockets of cards that are not connected: QEMU names no address for them, or an error. */
const listUnconnectedSockets = async (qmp: Qmp): Promise<readonly string[]> =>
  // A line is "NAME: index=0,type=stream,unix:PATH", with the names of hubs and backslashes before it.
  (await runCommand(qmp, 'info network')).split('\n').flatMap(line => {
    const [, name] = /(\S+): index=\d+,type=stream,\s*(?:error: .*)?$/.exec(line) ?? []
    return name ?? []
  })

/** Milliseconds within which QEMU connects a new socket to a program that listens. */
const connectTimeout = 3_000

/**
 * Returns the sockets of cards, of those that `isAwaited` holds for, whose other end is gone. QEMU shows one that it is about to
 * connect in the same way, and QEMU 7.2 crashes if such a socket is removed: so they have some time to connect first.
 */
const awaitSockets = async (qmp: Qmp, isAwaited: (socket: string) => boolean): Promise<readonly string[]> => {
  for (const end = performance.now() + connectTimeout; ; await wait(20)) {
    const sockets = (await listUnconnectedSockets(qmp)).filter(isAwaited)
    if (sockets.length === 0 || performance.now() > end) return sockets
  }
}

/** Returns the names of the sockets of cards whose other end is gone. */
export const listDisconnectedSockets = (qmp: Qmp): Promise<readonly string[]> => awaitSockets(qmp, () => true)

/** Whether a socket of a card is connected, or is so in time. */
export const isConnected = async (qmp: Qmp, socket: string): Promise<boolean> =>
  (await awaitSockets(qmp, one => one === socket)).length === 0
