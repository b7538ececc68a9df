import { dirname, isAbsolute, join } from 'node:path'
import { messageOf } from '#lib/errors.ts'
import { type Account, killProcess } from '#lib/platform/processes.ts'
import type { Logger } from '#lib/platform/log.ts'
import type { OwnProgram } from '#lib/platform/program-parts.ts'
import { createBaseDriver } from '../base-driver.ts'
import type { Definition } from '../definition.ts'
import type { HypervisorDriver, MachineView } from '../driver.ts'
import { createMachineFolders, type ValidMachine } from '../files/machine-folders.ts'
import type { HostFileOpener } from '../files/open-machine-file.ts'
import type { OpenRegisteredImage } from '../files/registered-image.ts'
import { chooseAccelerator } from './accelerator.ts'
import type { Attachments } from './attached-files.ts'
import { listOriginalBases } from './disks.ts'
import { openCpuGroups } from './cgroup/cpu-groups.ts'
import { configureMachine } from './devices/configure.ts'
import { planChange } from './devices/plan.ts'
import { limitDisks } from './hardware/limits.ts'
import { measureQemu } from './hardware/measure.ts'
import { findFirmware } from './hardware/firmware.ts'
import { createImages } from './images.ts'
import { createQemuMachine, type QemuMachine } from './machine.ts'
import { createJournal } from './operation-journal.ts'
import { exportQemuMachine, createImportValidator } from './qemu-export.ts'
import { watchLegacyLogs } from './legacy-logs.ts'
import { setMachineOwner } from './ownership.ts'
import { createForks } from './forks/forks.ts'
import { renewIdentity } from './forks/renew-identity.ts'
import { killUnrecorded, findLivingPid, migrateLegacyPid } from './pid.ts'
import { prepareDemo, prepareMachine } from './prepare-machine.ts'
import type { QemuPrograms } from './programs.ts'
import { changeForwards, requireForwardCard } from './network/forwards.ts'
import { createHostNetwork } from './network/host-network.ts'
import { openTunnel } from './network/tunnel.ts'
import { createRecorder } from './recorder/client.ts'
import { openSerialInput } from './recorder/serial-input.ts'
import { createScreenshots } from '../screenshots.ts'
import { openScreen } from './screen/open-screen.ts'
import { createSnapshots } from './snapshots/snapshots.ts'
import { takeScreenshot } from './screen/take-screenshot.ts'
import { removeUnfinishedCopies } from './backup/back-up-disks.ts'
import { type CloneContext, cloneMachine } from './clone-machine.ts'
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
  readonly openImage: OpenRegisteredImage
  /** Whether the gateway of a nat card leads to the loopback of the host. False when left out. */
  readonly reachesLoopback?: boolean
  readonly log: Logger
}

/** A plan that is not carried out reaches no QEMU. */
const refuseToRun = (): never => {
  throw new Error('A check changes no machine.')
}

/** Creates the QEMU driver: each machine is a process that outlives the service and is found again at its next start. */
export const createQemuDriver = async (options: Options): Promise<HypervisorDriver> => {
  const { folder, programs, recorderProgram, serialLogSize, account, hostFiles, openImage, log } = options
  const { reachesLoopback = false } = options
  const folders = createMachineFolders(folder)
  const base = createBaseDriver({ folders, createMachine: definition => createMachine(definition) })
  const images = createImages(programs.img)
  const { accelerator, problem } = await chooseAccelerator(programs.system, account)
  if (problem !== undefined) log.warning('Guests are translated, which is several times slower: {problem}', { problem })
  const sources = createCloneSources({
    images,
    openImage,
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

  const screenshots = createScreenshots()
  const cpuGroups = await openCpuGroups(folder)
  const attachments: Attachments = {
    hostFiles,
    openImage,
    account,
    firmware: await findFirmware(),
    cpuGroups,
    otherDisks: id =>
      base
        .views()
        .flatMap(({ id: other, name, state, definition: { disks } }) =>
          other === id ? [] : disks.filter(({ path }) => isAbsolute(path)).map(disk => ({ name, state, disk })),
        ),
  }

  const warn = (id: string) => (error: unknown) => log.warning('{id}: {error}', { id, error: messageOf(error) })
  const network = createHostNetwork({
    folder: join(dirname(folder), 'networks'),
    environment: programs.environment,
    account,
    reachesLoopback,
    listMachines: () => base.views().map(({ definition }) => definition),
    log,
  })

  const limitProcess = ({ view }: QemuMachine, pid: number): Promise<void> =>
    cpuGroups.limit(view().id, pid, view().definition.limits?.cpu_percent)
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
        limitProcess: pid => limitProcess(machine, pid),
        async restoreLimits({ pid, qmp }) {
          await limitProcess(machine, pid)
          await limitDisks(qmp, machine.view().definition)
        },
        recordSerialOutput: deadline => {
          legacyLogs.delete(id)
          return recorder.attach(id, deadline)
        },
        onLegacyLog: () => legacyLogs.add(id),
        log,
      },
      accelerator,
      network,
      report: base.report,
      log,
    })
    return machine
  }
  const copying: CloneContext = { attachments, images, sources, create: base.create }
  const snapshots = createSnapshots({
    folders,
    images,
    account,
    copying,
    requireMachine: id => base.requireMachine(id),
    log,
  })
  const recover = async (found: ValidMachine): Promise<void> => {
    const { id, home, definition, snapshots: tree } = await snapshots.recover(found)
    await migrateLegacyPid(home, id).catch(error =>
      log.warning('{id}: the pid file of an older version cannot be moved: {error}', { id, error: messageOf(error) }),
    )
    if (await createJournal(folders, id).readOperation()) {
      await killUnrecorded(home, id)
      if ((await findLivingPid(home, id)) === undefined) await network.recover(id)
    }
    const machine = base.register(createMachine(definition))
    machine.setSnapshots(tree)
    await machine.recover()
    if (isRecorded(machine.view())) void renewIdentity(machine, { hasAgent: true, log })
    await removeUnfinishedCopies(home, {
      connect: () => (isRecorded(machine.view()) ? machine.control.connect().then(({ qmp }) => qmp) : undefined),
      warn: reason => log.warning('{id}: an unfinished copy of its disks stays: {reason}', { id, reason }),
    })
  }

  const release = async (id: string): Promise<void> => {
    // The machine is gone. The next start of the service removes what is left of it on the host.
    await network.release(id).catch(warn(id))
    await cpuGroups.remove(id).catch(warn(id))
  }
  const forkParts = { folder, folders, images, attachments, sources, createMachine, release, log }
  const forks = createForks({ ...forkParts, register: base.register })

  return {
    kind: 'qemu',
    features: { linkedClone: true, cloneRunning: true },
    platform: {
      hypervisorType: `qemu-${accelerator}`,
      ...(problem !== undefined && { problem }),
      acceleration: accelerator === 'tcg' ? 'off' : 'high',
      cpuType: 'x86',
      cpuMode: '64',
      networkCard: 'e1000',
    },
    async open(onEvent) {
      await forks.removeInterrupted()
      await Promise.all((await base.open(onEvent)).map(recover))
      await network.reconcile()
      await cpuGroups.reconcile(base.views().map(({ id }) => id)).catch(warn('control groups'))
    },
    list: base.list,
    get: base.get,
    async run(id, verb, options) {
      const machine = base.requireMachine(id)
      await snapshots.finishRevert(id, options.deadline)
      if (verb === 'start' || verb === 'stop') await forks.endWaiting(id)
      if (verb === 'start') await sources.prepareStart(machine.view(), options.deadline)
      return machine.run(verb, options)
    },
    create: async machine => base.createPrepared(await prepareMachine(machine, { images, attachments, network })),
    createDemo: async () => base.createPrepared(await prepareDemo({ images, attachments })),
    async clone(from, name, options) {
      await snapshots.finishRevert(from, options.deadline)
      return cloneMachine(base.requireMachine(from), name, options, copying)
    },
    async export(id, options) {
      await snapshots.finishRevert(id, options.deadline)
      return exportQemuMachine(base.requireMachine(id).view(), options, copying)
    },
    import: (machine, populate) => base.import(machine, populate, createImportValidator(images)),
    openAgent: async id => base.requireMachine(id).agentPort.require(),
    checkChange: (view, next) => planChange({ view, next, images, attachments, network, running: refuseToRun }).effect,
    configure: (id, next) =>
      configureMachine(base.requireMachine(id), next, {
        images,
        attachments,
        network,
        writeDefinition: folders.writeDefinition,
        warn: warn(id),
      }),
    async measure(id) {
      const machine = base.machines.get(id)
      const running = machine?.control.current()
      return machine && running && measureQemu(running, machine.view(), machine.agentPort.current())
    },
    async setForwards(id, forwards) {
      const machine = base.requireMachine(id)
      const { definition, state } = machine.view()
      const isUp = state === 'running' || state === 'paused'
      await using change = isUp
        ? await changeForwards((await machine.control.connect()).qmp, definition, forwards)
        : undefined
      const view = await base.configure(id, { ...definition, forwards: [...forwards] })
      change?.keep()
      return view
    },
    async openTunnel(id, port) {
      const machine = base.requireMachine(id)
      return openTunnel((await machine.control.connect()).qmp, requireForwardCard(machine.view().definition), port)
    },
    openScreen: async id => openScreen(base.requireMachine(id).view()),
    takeScreenshot: id => screenshots.take(id, async () => takeScreenshot(base.requireMachine(id))),
    openSerial: id => openSerialInput(recorder, base.requireMachine(id).view(), legacyLogs.has(id)),
    snapshots,
    forks: {
      fork: (id, newForks, deadline) => forks.fork(base.requireMachine(id), newForks, deadline),
      forkSnapshot: (id, snapshot, newForks, deadline) =>
        forks.forkSnapshot(base.requireMachine(id), snapshot, newForks, deadline),
    },
    deleteSeed: base.deleteSeed,
    async remove(id) {
      const { definition, home } = base.requireView(id)
      await forks.endWaiting(id)
      const pid = await findLivingPid(home, id)
      if (pid !== undefined) killProcess(pid)
      base.machines.get(id)?.release()
      legacyLogs.delete(id)
      await base.remove(id)
      await release(id)
      sources.onRemoved(definition)
    },
    async close() {
      await forks.close()
      for (const machine of base.machines.values()) machine.release()
      recorder[Symbol.dispose]()
      legacyLogs[Symbol.dispose]()
    },
  }
}
