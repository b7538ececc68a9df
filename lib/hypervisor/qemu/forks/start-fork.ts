import { abortable } from '#lib/async/abortable.ts'
import type { QemuMachine } from '../machine.ts'
import { waitForLoad } from '../saved-memory.ts'
import { continueFork } from './continue-fork.ts'
import { openDeviceState } from './device-state.ts'
import { writeForkMarker } from './marker.ts'
import type { MemoryFiles } from './memory-files.ts'

/** A fork whose QEMU is being started, or waits for the state of its devices. */
export interface StartingFork {
  readonly machine: QemuMachine
  /** Resolves when QEMU waits. Rejects with why it does not. */
  readonly ready: Promise<void>
  /** Gives the fork the state of the devices of its source. Resolves when it runs. */
  load(state: Buffer): Promise<void>
  /** Resolves when QEMU has ended, or was given up. */
  readonly failed: Promise<void>
  /** Settles when nothing works on the start any more. QEMU may still be there. */
  readonly running: Promise<unknown>
}

/**
 * Starts the QEMU of a fork, which maps the template as its memory. The template is not read before `load`: until then it may be
 * written. `life` ends the wait for `load`.
 */
export const startFork = (machine: QemuMachine, template: MemoryFiles, life: AbortSignal): StartingFork => {
  const ready = Promise.withResolvers<void>()
  const devices = Promise.withResolvers<Buffer>()
  const loaded = Promise.withResolvers<void>()
  const failed = Promise.withResolvers<void>()
  const fail = (error: unknown): void => {
    failed.resolve()
    for (const { reject } of [ready, devices, loaded]) reject(error)
  }
  // Nobody may wait for these any more when they are rejected.
  for (const { promise } of [ready, devices, loaded]) promise.catch(() => {})
  const running = machine.operate(life, async ({ machine: state, bootIncoming }) => {
    const { pid, qmp } = await bootIncoming({ kind: 'fork', files: template.handles }, life)
    void qmp.closed.then(fail)
    const { home } = state.view()
    await writeForkMarker(home, pid)
    using incoming = await openDeviceState(qmp, home)
    ready.resolve()
    await incoming.send(await abortable(devices.promise, life))
    await waitForLoad(qmp, life)
    const { persisted } = await continueFork(state, qmp)
    loaded.resolve()
    await persisted
  })
  running.catch(fail)
  return {
    machine,
    ready: ready.promise,
    async load(state) {
      devices.resolve(state)
      await loaded.promise
    },
    failed: failed.promise,
    running,
  }
}
