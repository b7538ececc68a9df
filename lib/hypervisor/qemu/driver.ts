import { dirname, isAbsolute, join } from 'node:path'
import { messageOf } from '#lib/errors.ts'
import { type Account, killProcess } from '#lib/platform/processes.ts'
import type { Logger } from '#lib/platform/log.ts'
import type { OwnProgram } from '#lib/platform/program-parts.ts'
import { abortableAfterGrace } from '#lib/async/abortable.ts'
import { createBaseDriver } from '../base-driver.ts'
import type { Definition } from '../definition.ts'
import type { HypervisorDriver, MachineView } from '../driver.ts'
import { generateMac } from '../mac.ts'
import { createMachineFolders, type ValidMachine } from '../files/machine-folders.ts'
import type { HostFileOpener } from '../files/open-machine-file.ts'
import { chooseAccelerator } from './accelerator.ts'
import type { Attachments } from './attached-files.ts'
import { copyDisks, copyOwnFiles, linkDisks, listOriginalBases, assertLinkable } from './disks.ts'
import { createImages } from './images.ts'
import { createQemuMachine, type QemuMachine } from './machine.ts'
import { createJournal } from './operation-journal.ts'
import { exportQemuMachine, createImportValidator } from './qemu-export.ts'
import { watchLegacyLogs } from './legacy-logs.ts'
import { setMachineOwner } from './ownership.ts'
import { killUnrecorded, findLivingPid, migrateLegacyPid } from './pid.ts'
import { prepareDemo, prepareMachine } from './prepare-machine.ts'
import type { QemuPrograms } from './programs.ts'
import { createRecorder } from './recorder/client.ts'
import { createCloneSources } from './clone-sources.ts'

interface Options {
  /** Contains the machines' folders. The recorder's folder is beside it. */
  readonly folder: string
  readonly programs: QemuPrograms
  /** The program that records serial output. */
  readonly recorderProgram: OwnProgram
  /** Maximum size of a guest's serial log in bytes. The rotated log may have as many. */
  readonly serialLogSize: number
  /** The account that QEMU runs as; undefined for that of the service. */
  readonly account?: Account | undefined
  readonly hostFiles: HostFileOpener
  readonly log: Logger
}

/** Creates the QEMU driver: each machine is a process that outlives the service and is found again at its next start. */
export const createQemuDriver = async (options: Options): Promise<HypervisorDriver> => {
  const { folder, programs, recorderProgram, serialLogSize, account, hostFiles, log } = options
  const folders = createMachineFolders(folder)
  const base = createBaseDriver({ folders, createMachine: definition => createMachine(definition) })
  const images = createImages(programs.img)
  const { accelerator, problem } = await chooseAccelerator(programs.system, account)
  if (problem !== undefined) log.warning('Guests are translated, which is several times slower: {problem}', { problem })
  const sources = createCloneSources({
    images,
    log,
    listLayerUsers: id =>
      base.views().flatMap(({ state, home, definition }) => {
        if (state === 'invalid') return [{ home, originalBases: undefined }]
        return definition.base === id ? [{ home, originalBases: listOriginalBases(definition) }] : []
      }),
  })
  const legacyLogs = watchLegacyLogs(folder, serialLogSize)
  const recorder = createRecorder({
    program: recorderProgram,
    folder: join(dirname(folder), 'recorder'),
    machinesFolder: folder,
    limit: serialLogSize,
    environment: programs.environment,
    isNeeded: () => base.views().some(isRecorded),
    log,
  })
  const isRecorded = ({ id, state }: MachineView): boolean =>
    (state === 'running' || state === 'paused') && !legacyLogs.has(id)

  const attachments: Attachments = {
    hostFiles,
    account,
    otherDisks: id =>
      base
        .views()
        .flatMap(({ id: other, name, state, definition: { disks } }) =>
          other === id ? [] : disks.filter(({ path }) => isAbsolute(path)).map(disk => ({ name, state, disk })),
        ),
  }

  const createMachine = (definition: Definition): QemuMachine => {
    const { id } = definition
    const home = folders.home(id)
    const machine: QemuMachine = createQemuMachine({
      definition,
      home,
      journal: createJournal(folders, id),
      attachments,
      context: {
        id,
        home,
        program: programs.system,
        environment: programs.environment,
        account,
        async grantAccess() {
          if (account) await setMachineOwner(home, machine.view().definition, account)
        },
        recordSerialOutput: deadline => {
          legacyLogs.delete(id)
          return recorder.attach(id, deadline)
        },
        onLegacyLog: () => legacyLogs.add(id),
        log,
      },
      accelerator,
      report: base.report,
      log,
    })
    return machine
  }
  const recover = async ({ id, home, definition }: ValidMachine): Promise<void> => {
    await migrateLegacyPid(home, id).catch(error =>
      log.warning('{id}: the pid file of an older version cannot be moved: {error}', { id, error: messageOf(error) }),
    )
    if (await createJournal(folders, id).readOperation()) await killUnrecorded(home, id)
    await base.register(createMachine(definition)).recover()
  }

  return {
    kind: 'qemu',
    features: { hotplug: new Set(['name', 'description']), linkedClone: true, cloneRunning: false },
    platform: {
      hypervisorType: `qemu-${accelerator}`,
      ...(problem !== undefined && { problem }),
      acceleration: accelerator === 'tcg' ? 'off' : 'high',
      cpuType: 'x86',
      cpuMode: '64',
      diskPort: 'ide:0',
      networkCard: 'e1000',
    },
    async open(onEvent) {
      await Promise.all((await base.open(onEvent)).map(recover))
    },
    list: base.list,
    get: base.get,
    async run(id, verb, options) {
      const machine = base.requireMachine(id)
      if (verb === 'start') await sources.prepareStart(machine.view(), options.deadline)
      return machine.run(verb, options)
    },
    create: async machine => base.createPrepared(await prepareMachine(machine, { images, attachments })),
    createDemo: async () => base.createPrepared(await prepareDemo({ images, attachments })),
    async clone(from, name, { id = crypto.randomUUID(), linked, deadline, onProgress }) {
      const view = base.requireMachine(from).view()
      const { definition: source, home } = view
      if (linked) assertLinkable(source)
      using _reading = await sources.lockForReading(view, deadline)
      const { base: _, ...rest } = source
      const clone = {
        ...rest,
        id,
        name,
        networks: source.networks.map(card => ({ ...card, mac: generateMac() })),
        created_at: new Date().toISOString(),
        ...(linked && { base: from }),
      }
      return await base.create(clone.id, async folder => {
        const copy = { source, attachments, home, folder, images, deadline, onProgress }
        const freeze = (name: string): Promise<string> => sources.freeze(view, name, { signal: deadline, onProgress })
        // Not interrupted: a freeze must complete before other operations use the disks of the source.
        const disks = await (linked ? linkDisks(copy, freeze) : abortableAfterGrace(deadline, copyDisks(copy)))
        await abortableAfterGrace(deadline, copyOwnFiles(source, copy))
        return { ...clone, disks }
      })
    },
    async export(id, options) {
      const view = base.requireMachine(id).view()
      using stack = new DisposableStack()
      stack.use(await sources.lockForReading(view, options.deadline))
      const exported = await exportQemuMachine(view, images, attachments, options)
      const reading = stack.move()
      return {
        files: exported.files,
        async [Symbol.asyncDispose]() {
          await exported[Symbol.asyncDispose]()
          reading.dispose()
        },
      }
    },
    import: (machine, populate) => base.import(machine, populate, createImportValidator(images)),
    configure: base.configure,
    async remove(id) {
      const { definition, home } = base.requireView(id)
      const pid = await findLivingPid(home, id)
      if (pid !== undefined) killProcess(pid)
      base.machines.get(id)?.release()
      legacyLogs.delete(id)
      await base.remove(id)
      sources.onRemoved(definition)
    },
    async close() {
      for (const machine of base.machines.values()) machine.release()
      recorder[Symbol.dispose]()
      legacyLogs[Symbol.dispose]()
    },
  }
}
