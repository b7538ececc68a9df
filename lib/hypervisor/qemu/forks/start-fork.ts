import { abortable } from '#lib/async/abortable.ts'
import { ServiceError } from '#lib/errors.ts'
import { getCardName } from '../../parts.ts'
import type { QemuMachine } from '../machine.ts'
import { waitForLoad } from '../saved-memory.ts'
import { sendDeviceState } from './device-state.ts'
import { writeForkMarker } from './marker.ts'
import type { MemoryFiles } from './memory-files.ts'

/** A fork whose QEMU is being started, or waits for the state of its devices. */
export interface StartingFork {
  readonly machine: QemuMachine
  /** Resolves when QEMU waits. Rejects with why it does not. */
  readonly ready: Promise<void>
  /** Gives the fork the state of the devices of its source. Resolves when it runs. */
  load(state: Buffer): Promise<void>
  /** Gives it up. Resolves when nothing works on it any more; its QEMU may still be there. */
  abandon(): Promise<void>
}

/**
 * Starts the QEMU of a fork, which maps the template as its memory. Neither is read before `load`: until then the template may be
 * written.
 */
export const startFork = (machine: QemuMachine, template: MemoryFiles, deadline: AbortSignal): StartingFork => {
  const ready = Promise.withResolvers<void>()
  const state = Promise.withResolvers<Buffer>()
  // Nobody may wait for these any more when they are rejected.
  for (const { promise } of [ready, state]) promise.catch(() => {})
  const running = machine.operate(deadline, async ({ machine: { view, setView, changeState }, bootFork }) => {
    const { pid, qmp } = await bootFork(template.handles, deadline)
    ready.resolve()
    const { home, definition } = view()
    await sendDeviceState(qmp, home, await abortable(state.promise, deadline))
    await waitForLoad(qmp, deadline)
    await writeForkMarker(home, pid)
    // The guest still has the card of the source, with its MAC address.
    const disconnectedCards = definition.networks.map(getCardName)
    for (const name of disconnectedCards) await qmp.execute('set_link', { name, up: false })
    await qmp.execute('cont')
    await changeState('running', { booted: true })
    if (disconnectedCards.length > 0) setView({ ...view(), disconnectedCards })
  })
  running.catch(ready.reject)
  return {
    machine,
    ready: ready.promise,
    async load(bytes) {
      state.resolve(bytes)
      await running
    },
    async abandon() {
      state.reject(new ServiceError('conflict', 'The fork was given up.'))
      await running.catch(() => {})
    },
  }
}
