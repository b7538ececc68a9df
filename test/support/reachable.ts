import type { ChildProcess } from 'node:child_process'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** Waits until a program that was just started takes connections at `host:port`. Throws when it ends before. */
export const whenReachable = async (address: string, program: ChildProcess): Promise<void> => {
  const [host, port] = address.split(':')
  for (;;) {
    if (program.exitCode !== null || program.signalCode !== null)
      throw new Error(`${program.spawnfile} ended with ${program.exitCode ?? program.signalCode}`)
    const reached = await new Promise<boolean>(resolve => {
      const socket = connect(Number(port), host)
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (reached) return
    await pause(20)
  }
}
