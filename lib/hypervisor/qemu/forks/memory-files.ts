import { type FileHandle, open, readdir, readlink, stat } from 'node:fs/promises'
import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import type { Definition } from '../../definition.ts'
import { resolveOpenPath } from '#lib/platform/open-file.ts'
import { describeMemory } from '../arguments/machine.ts'
import type { RunningQemu } from '../process.ts'
import type { Qmp } from '../qmp.ts'
import { copyRanges } from './copy-ranges.ts'
import { listSharedFiles, type Range, readUsedRanges } from './page-ranges.ts'

/** The files with the memory of a running machine: the base memory first, then that of each module. */
export interface MemoryFiles extends AsyncDisposable {
  readonly handles: readonly FileHandle[]
}

const megabyte = 2 ** 20
/** What Linux says of a file that QEMU has made for memory. */
const memoryFileName = '/memfd:memory-backend-memfd (deleted)'

interface FoundFile {
  readonly path: string
  readonly inode: bigint
  readonly size: number
  /** Nanoseconds since 1970. */
  readonly madeAt: bigint
}

/**
 * Returns the memory files of a process in the order in which it has made them. Linux counts their inodes for each processor apart,
 * so these tell no order. Files of the same tick of the clock have descriptors in their order.
 */
const listMemoryFiles = async (pid: number): Promise<readonly FoundFile[]> => {
  const folder = `/proc/${pid}/fd`
  const found = new Map<bigint, FoundFile>()
  for (const name of (await readdir(folder)).toSorted((a, b) => Number(a) - Number(b))) {
    const path = `${folder}/${name}`
    if ((await readlink(path).catch(() => undefined)) !== memoryFileName) continue
    const { ino: inode, size, birthtimeNs: madeAt } = await stat(path, { bigint: true })
    if (!found.has(inode)) found.set(inode, { path, inode, size: Number(size), madeAt })
  }
  return [...found.values()].toSorted((a, b) => Number(a.madeAt - b.madeAt))
}

/** Opens a memory file of a process. Throws if the process has put another file in its place, which it may have no right to write to. */
const openMemoryFile = async (path: string, flags: 'r' | 'r+'): Promise<FileHandle> => {
  const handle = await open(path, flags)
  if ((await resolveOpenPath(handle, path)) === memoryFileName) return handle
  await handle.close()
  throw new ServiceError('conflict', 'QEMU has changed its memory while it was opened. Try again.')
}

const openAll = async (files: readonly Pick<FoundFile, 'path'>[], flags: 'r' | 'r+'): Promise<MemoryFiles> => {
  await using stack = new AsyncDisposableStack()
  const handles: FileHandle[] = []
  for (const { path } of files) handles.push(stack.use(await openMemoryFile(path, flags)))
  const opened = stack.move()
  return { handles, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

/** Returns the bytes of each part of the memory of a machine. */
const listSizes = ({ memory, memory_modules: modules = [] }: Definition): readonly number[] =>
  [modules.reduce((rest, size) => rest - size, memory), ...modules].map(size => size * megabyte)

const hasSizes = (files: readonly FoundFile[], sizes: readonly number[]): boolean =>
  files.length === sizes.length && files.every(({ size }, at) => size === sizes[at])

/**
 * Opens the memory of a running machine. Throws `conflict` for one whose memory other processes cannot share, which is so for a fork
 * until its next start.
 */
export const openMemoryFiles = async (pid: number, definition: Definition): Promise<MemoryFiles> => {
  const shared = new Set((await listSharedFiles(pid)).map(({ inode }) => inode))
  const sizes = listSizes(definition)
  // A fork has the template open too, and changes it for itself alone. What is younger than the memory is a template that QEMU has
  // not given back yet.
  const files = (await listMemoryFiles(pid)).filter(({ inode }) => shared.has(String(inode))).slice(0, sizes.length)
  if (!hasSizes(files, sizes))
    throw new ServiceError(
      'conflict',
      `${definition.name} cannot fork now, because its memory is not shared memory. It can after its next start: stop and start it.`,
    )
  return openAll(files, 'r')
}

const templatePrefix = 'template-'

const Objects = z.array(z.object({ name: z.string() }))

/** Deletes the memory of templates that a killed service has left in QEMU. */
export const deleteTemplates = async (qmp: Qmp): Promise<void> => {
  const objects = Objects.parse(await qmp.execute('qom-list', { path: '/objects' }))
  for (const { name } of objects) if (name.startsWith(templatePrefix)) await qmp.execute('object-del', { id: name })
}

/**
 * Creates empty files of the size of a machine's memory, which have no name and go with the last process that has them open. QEMU
 * creates them, since Node cannot.
 */
export const createMemoryFiles = async ({ pid, qmp }: RunningQemu, definition: Definition): Promise<MemoryFiles> => {
  const known = new Set((await listMemoryFiles(pid)).map(({ inode }) => inode))
  const ids: string[] = []
  try {
    for (const size of listSizes(definition)) {
      const id = `${templatePrefix}${crypto.randomUUID().slice(0, 8)}`
      await qmp.execute('object-add', describeMemory(id, size / megabyte))
      ids.push(id)
    }
    return await openAll(
      (await listMemoryFiles(pid)).filter(({ inode }) => !known.has(inode)),
      'r+',
    )
  } finally {
    for (const id of ids) await qmp.execute('object-del', { id })
  }
}

/**
 * Returns the parts of a memory file that a copy of it needs. Each page in the map of the process has a page of the file, so if both
 * are of the same number, the map has all of them. If not, because the kernel has taken pages out of the map, it is the whole file.
 */
const findRanges = async (pid: number, file: FileHandle, isPaused: boolean): Promise<readonly Range[]> => {
  const { ino, size } = await file.stat({ bigint: true })
  const whole = [{ start: 0, end: Number(size) }]
  const mapped = (await listSharedFiles(pid)).find(one => one.inode === String(ino) && one.size === Number(size))
  if (!mapped) return whole
  const { ranges, counted } = await readUsedRanges(pid, mapped)
  const allocated = (await file.stat()).blocks * 512
  return !isPaused || counted === allocated ? ranges : whole
}

/**
 * Copies the pages that a machine uses to the same places of a template. Pages that are not in use stay holes. What is copied while
 * the guest runs has to be copied again in the pause: that is faster then, because the template has its pages.
 */
export const copyMemory = async (
  pid: number,
  from: MemoryFiles,
  to: MemoryFiles,
  { isPaused }: { readonly isPaused: boolean },
): Promise<void> => {
  for (const [at, source] of from.handles.entries()) {
    const target = to.handles[at]
    if (!target) throw new Error('the template lacks a part of the memory')
    await copyRanges(source, target, await findRanges(pid, source, isPaused))
  }
}
