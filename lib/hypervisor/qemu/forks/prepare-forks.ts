import { join } from 'node:path'
import { Readable } from 'node:stream'
import { abortable } from '#lib/async/abortable.ts'
import { forEachConcurrent } from '#lib/async/for-each-concurrent.ts'
import type { Definition } from '../../definition.ts'
import { copySeed } from '../../seed/seed-files.ts'
import { copyOwnFiles } from '../disks.ts'
import { createOverlay } from '../layers.ts'
import { findDiskNode } from '../layers/disk-nodes.ts'
import { listOverlayDisks } from '../layers/pause.ts'
import { discardOverlays, type PreparedOverlay, prepareOverlays } from '../layers/put-overlays.ts'
import type { MachineOperation, QemuMachine } from '../machine.ts'
import type { ForkContext } from './context.ts'
import { describeFork } from './describe-fork.ts'
import type { ForkRecord } from '../../forks/journal.ts'
import { copyMemory, createMemoryFiles, deleteTemplates, type MemoryFiles, openMemoryFiles } from './memory-files.ts'
import { type StartingFork, startFork } from './start-fork.ts'

/** QEMUs that are started at the same time. */
const concurrency = 4

/** All that forks of a machine need before the machine is paused: their QEMUs wait, with disks and memory that are to be filled. */
export interface PreparedForks extends AsyncDisposable {
  /** The forks whose QEMUs wait, in the order in which they were added. */
  readonly forks: readonly StartingFork[]
  readonly memory: MemoryFiles
  readonly template: MemoryFiles
  readonly overlays: readonly PreparedOverlay[]
  /** Starts the QEMUs of more forks with these ids. Throws why one does not start, and the reason of `deadline`. */
  add(ids: readonly string[], deadline: AbortSignal): Promise<void>
  /** True if nothing has changed in the source that the forks have in common with it. */
  isCurrent(): Promise<boolean>
  /** From now on the disks of the source are the overlays. */
  markSwitched(): void
  /** Makes all forks machines, at once. Disposing does nothing any more but to close files. */
  commit(): Promise<void>
}

/** Makes the folder of a fork, with disks that build on what is below the overlays of the source. */
const makeFolder = async (
  source: QemuMachine,
  id: string,
  overlays: readonly PreparedOverlay[],
  { folders, images, attachments }: ForkContext,
  signal: AbortSignal,
): Promise<Definition> => {
  const { definition, home, name } = source.view()
  return folders.create(id, async folder => {
    const described = describeFork(definition, { id, name }, overlays)
    for (const [at, { base }] of overlays.entries())
      await createOverlay(base, join(folder, described.disks[at]!.path), images)
    const copy = { source: definition, attachments, home, folder, images, deadline: signal, onProgress: () => {} }
    await copyOwnFiles(definition, copy)
    await copySeed(home, folder, described)
    return described
  })
}

/**
 * Prepares forks of a machine within an operation of it. Disposing ends their QEMUs and removes all that there is of them. Throws
 * `conflict` for a machine whose memory cannot be shared, `no-space`, and what QEMU says.
 */
export const prepareForks = async (
  operation: MachineOperation,
  source: QemuMachine,
  context: ForkContext,
  deadline: AbortSignal,
): Promise<PreparedForks> => {
  const { images, attachments, sources, journal, createMachine, discard } = context
  const { definition } = source.view()
  const running = await operation.control.connect()
  const { pid, qmp } = running
  await using stack = new AsyncDisposableStack()
  await deleteTemplates(qmp)
  const memory = stack.use(await openMemoryFiles(pid, definition))
  await sources.makeRoom(operation, deadline)
  const template = stack.use(await createMemoryFiles(running, definition))
  const disks = await listOverlayDisks(source.view())
  const overlays = await prepareOverlays(disks, { qmp, images, account: attachments.account })
  let isSwitched = false
  stack.defer(() => (isSwitched ? undefined : discardOverlays(overlays)))
  const forks: StartingFork[] = []
  let record: ForkRecord | undefined
  let isCommitted = false
  const life = new AbortController()
  stack.defer(async () => {
    if (isCommitted || !record) return
    life.abort(new Error('The fork was given up.'))
    for (const { machine } of forks) machine.release()
    await Promise.allSettled(forks.map(({ running: done }) => done))
    for (const id of record.ids) await discard(id)
    await record.end()
  })
  const warmUp = copyMemory(pid, memory, template, { isPaused: false })
  // The files stay open until nobody copies to them.
  stack.defer(() => warmUp.catch(() => {}))
  const isPresent = async ({ name, below }: PreparedOverlay): Promise<boolean> =>
    (await findDiskNode(qmp, name)).node === below
  const owned = stack.move()
  return {
    forks,
    memory,
    template,
    overlays,
    async add(ids, signal) {
      if (record) await record.add(ids)
      else record = await journal.begin(ids)
      const order = record.ids
      const getPlace = ({ machine }: StartingFork): number => order.indexOf(machine.view().id)
      await forEachConcurrent(Readable.from(ids), concurrency, async (id: string) => {
        const machine = createMachine(await makeFolder(source, id, overlays, context, signal))
        const fork = startFork(machine, template, life.signal)
        forks.push(fork)
        await abortable(fork.ready, signal)
      })
      forks.sort((a, b) => getPlace(a) - getPlace(b))
      await abortable(warmUp, signal)
    },
    async isCurrent() {
      if (source.control.current() !== running || source.view().definition !== definition) return false
      return (await Promise.all(overlays.map(isPresent))).every(Boolean)
    },
    markSwitched: () => void (isSwitched = true),
    async commit() {
      await record?.end()
      isCommitted = true
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
