import { expect } from 'vitest'
import type { NewMachine } from '#lib/hypervisor/definition.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import type { Forward } from '#lib/hypervisor/machine-parts.ts'
import { createCards } from '#lib/hypervisor/network-modes.ts'
import { patience, until } from '../waiting.ts'
import { getSmallLinux } from '../guests/linux.ts'
import { runOnSerialLine, waitForSerial } from '../guests/serial-shell.ts'

/** A small Linux with a card for each of these modes. */
export const describeLinux = (
  name: string,
  modes: readonly string[] = ['isolated'],
  forwards?: Forward[],
): NewMachine => {
  const { kernel, initrd, cmdline } = getSmallLinux()
  return {
    name,
    description: '',
    cpus: 1,
    memory: 128,
    disks: [],
    kernel,
    initrd,
    cmdline,
    networks: createCards(modes.map(mode => ({ mode }))),
    ...(forwards && { forwards }),
  }
}

/** Starts a small Linux and waits until all of its cards have addresses. */
export const startLinux = async (driver: HypervisorDriver, id: string): Promise<MachineView> => {
  const view = await driver.run(id, 'start', { force: false, deadline: AbortSignal.timeout(patience) })
  await waitForSerial(view, /GUEST:READY/)
  await Promise.all(view.definition.networks.map((_, at) => waitForSerial(view, new RegExp(`GUEST:IP eth${at} `))))
  return view
}

/**
 * What a guest reads from ADDRESS:PORT over HTTP; empty if it reaches nothing there. The guest's wget has a static C library,
 * which crashes when it looks up names.
 */
export const readFromGuest = async (machine: MachineView, address: string): Promise<string> => {
  const [host, port] = address.split(':')
  // nc closes its side when its input ends, and passt then delivers the end of the other side late.
  const request = `(printf 'GET / HTTP/1.0\\r\\n\\r\\n'; sleep 2) | timeout 4 nc -w 3 ${host} ${port} 2>/dev/null`
  return (await runOnSerialLine(machine, request)).output.split('\n\n').slice(1).join('\n\n')
}

/** Waits until a guest reads `text` from ADDRESS:PORT: on a busy machine, its first try can take longer than it waits. */
export const waitUntilGuestReads = (machine: MachineView, address: string, text: string): Promise<void> =>
  until(async () => expect(await readFromGuest(machine, address)).toBe(text))
