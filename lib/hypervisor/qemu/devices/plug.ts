import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import type { Device } from '../arguments/options.ts'
import type { QmpEvent } from '../qmp.ts'
import type { RunningMachine } from './step.ts'

/** Milliseconds that a guest has to release a device. A guest of today needs less than one second. */
const releaseTimeout = 10_000

const DeviceEvent = z.object({ device: z.string() })

const isEventOf = ({ data }: QmpEvent, id: string): boolean => DeviceEvent.safeParse(data).data?.device === id

/** Plugs a device into a running machine. Throws `conflict` with the reason of QEMU. */
export const plug = async ({ qmp }: RunningMachine, device: Device): Promise<void> => {
  await qmp.execute('device_add', device).catch((error: Error) => {
    throw new ServiceError('conflict', `${device.id} cannot be added while the machine runs: ${error.message}`, {
      cause: error,
    })
  })
}

/** The devices of each machine that its guest has not released, and the end of the watch for each. */
const kept = new WeakMap<RunningMachine['subscribe'], Map<string, Disposable>>()

const endWatch = ({ subscribe }: RunningMachine, id: string): void => {
  kept.get(subscribe)?.get(id)?.[Symbol.dispose]()
  kept.get(subscribe)?.delete(id)
}

/** Plugs a device again that the guest has released after the service had given up. The next try to remove it ends that. */
const keepPlugged = (running: RunningMachine, device: Device): void => {
  const id = device.id ?? ''
  const watches = kept.get(running.subscribe) ?? new Map<string, Disposable>()
  kept.set(running.subscribe, watches)
  const watch = running.subscribe(event => {
    if (event.event !== 'DEVICE_DELETED' || !isEventOf(event, id)) return
    endWatch(running, id)
    plug(running, device).catch(running.warn)
  })
  watches.set(id, watch)
}

/**
 * Unplugs a device and waits until the guest has released it. Throws `conflict` if the guest does not: then the device stays, and
 * is plugged again if the guest releases it later.
 */
export const unplug = async (running: RunningMachine, device: Device): Promise<void> => {
  const id = device.id ?? ''
  endWatch(running, id)
  const released = Promise.withResolvers<boolean>()
  using _subscription = running.subscribe(event => {
    if (!isEventOf(event, id)) return
    if (event.event === 'DEVICE_DELETED') released.resolve(true)
    if (event.event === 'DEVICE_UNPLUG_GUEST_ERROR' || event.event === 'MEM_UNPLUG_ERROR') released.resolve(false)
  })
  const timer = setTimeout(() => released.resolve(false), releaseTimeout)
  try {
    await running.qmp.execute('device_del', { id }).catch((error: Error) => {
      throw new ServiceError('conflict', `${id} cannot be removed while the machine runs: ${error.message}`, {
        cause: error,
      })
    })
    if (await released.promise) return
  } finally {
    clearTimeout(timer)
  }
  keepPlugged(running, device)
  throw new ServiceError('conflict', `The guest does not release ${id}, so it stays. Stop the machine to remove it.`)
}
