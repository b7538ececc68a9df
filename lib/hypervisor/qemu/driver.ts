import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { killProcess } from '#lib/platform/processes.ts'
import type { Log } from '#lib/platform/log.ts'
import { adoptFiles } from '../adopting.ts'
import type { Definition } from '../definition.ts'
import type { HypervisorDriver, MachineView, Seen } from '../driver.ts'
import { buildGuest } from '../guest/guest.ts'
import { randomMac } from '../mac.ts'
import { createMachineFolders, type Found, invalidView } from '../machine-folders.ts'
import { chooseAccelerator } from './accelerator.ts'
import { clonedDisks, copyDisks, copyOwnFiles, createDisks, linkDisks, planDisks } from './disks.ts'
import { createImages } from './images.ts'
import { createQemuMachine, type QemuMachine } from './machine.ts'
import { notesOf } from './notes.ts'
import { exportFiles, judgePacked } from './packed.ts'
import { livingPid } from './process.ts'
import type { QemuPrograms } from './programs.ts'

interface Options {
  /** Where the machines' folders are. */
  readonly folder: string
  readonly programs: QemuPrograms
  readonly log: Log
}

/** Machines on QEMU: a process each, which outlives the service and is found again. */
export const createQemuDriver = async ({ folder, programs, log }: Options): Promise<HypervisorDriver> => {
  const folders = createMachineFolders(folder)
  const images = createImages(programs.img)
  const machines = new Map<string, QemuMachine>()
  const broken = new Map<string, MachineView>()
  const accelerator = await chooseAccelerator(programs.system)
  let report: (what: Seen) => void = () => {}

  const machineOf = (id: string): QemuMachine => {
    const machine = machines.get(id)
    if (!machine) throw new ServiceError('not-found', `There is no machine ${id}.`)
    return machine
  }
  const add = (definition: Definition): QemuMachine => {
    const { id } = definition
    const machine = createQemuMachine({
      definition,
      home: folders.home(id),
      notes: notesOf(folders, id),
      program: programs.system,
      accelerator,
      report: what => report(what),
      log,
    })
    machines.set(id, machine)
    return machine
  }
  const take = async (found: Found): Promise<void> => {
    if (found.definition) await add(found.definition).recover()
    else broken.set(found.id, invalidView(found))
  }
  const create = async (definition: Definition, fill: (staging: string) => Promise<void>): Promise<MachineView> => {
    await folders.create(definition.id, async staging => {
      await fill(staging)
      return definition
    })
    return add(definition).view()
  }
  const list = (): readonly MachineView[] => [...[...machines.values()].map(one => one.view()), ...broken.values()]

  return {
    kind: 'qemu',
    features: { hotplug: new Set(['name', 'description']), linkedClone: true, cloneRunning: false },
    platform: {
      hypervisorType: `qemu-${accelerator}`,
      acceleration: accelerator === 'tcg' ? 'off' : 'high',
      cpuType: 'x86',
      cpuMode: '64',
      diskPort: 'ide:0',
      networkCard: 'e1000',
    },
    async open(seen) {
      report = seen
      await Promise.all((await folders.open()).map(take))
    },
    list: async () => list(),
    get: async id => machines.get(id)?.view() ?? broken.get(id),
    run: (id, verb, how) => machineOf(id).run(verb, how),
    async create({ disks: wanted, ...machine }) {
      const disks = await planDisks(wanted, images)
      const definition: Definition = {
        ...machine,
        id: crypto.randomUUID(),
        disks,
        networks: [{ mac: randomMac() }],
        created_at: new Date().toISOString(),
      }
      return create(definition, staging => createDisks(disks, staging, images))
    },
    async createDemo() {
      const disks = await planDisks([{ size: 1 }], images)
      const definition: Definition = {
        id: crypto.randomUUID(),
        name: 'demo',
        description: 'Counts its boots on its disk and ticks on its serial line, see serial.log in its folder',
        cpus: 1,
        memory: 16,
        disks,
        networks: [],
        kernel: 'kernel.bin',
        created_at: new Date().toISOString(),
      }
      return create(definition, async staging => {
        await writeFile(join(staging, 'kernel.bin'), buildGuest())
        await createDisks(disks, staging, images)
      })
    },
    async clone(id, name, { linked, deadline, progress }) {
      const { definition: source, home } = machineOf(id).view()
      const { base: _, ...rest } = source
      const clone: Definition = {
        ...rest,
        id: crypto.randomUUID(),
        name,
        networks: source.networks.map(() => ({ mac: randomMac() })),
        created_at: new Date().toISOString(),
        ...(linked && { base: id }),
        disks: clonedDisks(source.disks),
      }
      return create(clone, async folder => {
        const copy = { disks: source.disks, home, folder, images, deadline, progress }
        await (linked ? linkDisks(copy) : copyDisks(copy))
        await copyOwnFiles(source, copy)
      })
    },
    export: async (id, how) => exportFiles(machineOf(id).view(), images, how),
    async adopt({ id, name }, fill) {
      const judge = judgePacked(images)
      return add(await folders.create(id, folder => adoptFiles(folder, { id, name, fill, judge }))).view()
    },
    async configure(id, changes) {
      const machine = machineOf(id)
      const definition = { ...machine.view().definition, ...changes }
      await folders.write(definition)
      return machine.define(definition)
    },
    async remove(id) {
      if (!machines.has(id) && !broken.has(id)) throw new ServiceError('not-found', `There is no machine ${id}.`)
      const pid = await livingPid(folders.home(id), id)
      if (pid !== undefined) killProcess(pid)
      machines.get(id)?.release()
      await folders.remove(id)
      machines.delete(id)
      broken.delete(id)
    },
    async close() {
      for (const machine of machines.values()) machine.release()
    },
  }
}
