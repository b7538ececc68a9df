import { rm, utimes, writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { copyOpenFile, type OpenFile } from '#lib/platform/open-file.ts'
import type { Definition } from '../definition.ts'
import type { ExportedMachine } from '../driver.ts'
import {
  definitionFile,
  listMachineFiles,
  flattenDefinition,
  type MachineFile,
  resolveMachinePath,
} from './machine-files.ts'
import { openMachineFile, type HostFileOpener } from './open-machine-file.ts'

/** Writes a complete copy of an open file to `to`. */
type CopyFile = (to: string, from: OpenFile, deadline: AbortSignal) => Promise<void>

interface Options {
  /** Contains the formats that the disks have after they are copied. */
  readonly definition: Definition
  readonly home: string
  /** The name of the file with the firmware variables, if it is not `firmwareFile`. */
  readonly variables?: string | undefined
  readonly staging: string
  readonly deadline: AbortSignal
  readonly hostFiles: HostFileOpener
  /** Returns how to copy a file, or undefined for a file that is exported in place. */
  readonly selectCopy: (file: MachineFile, at: number) => CopyFile | undefined
}

/** Returns how to copy a kernel, initrd or disk outside the machine's folder; undefined for a file in it. */
export const copyIfAttached = ({ path }: MachineFile): CopyFile | undefined =>
  isAbsolute(path) ? (to, from, deadline) => copyOpenFile(from, to, deadline) : undefined

/**
 * Creates the export handle of a machine: files in its folder are exported in place, others as copies. A second export of an
 * unchanged machine yields the same files with the same times. Throws `conflict` for a missing file and `forbidden` for a host
 * file that the service may not use any more.
 */
export const exportMachineFiles = async ({
  definition,
  home,
  variables,
  staging,
  deadline,
  hostFiles,
  selectCopy,
}: Options): Promise<ExportedMachine> => {
  await using createdFiles = new AsyncDisposableStack()
  const toStaging = (name: string): string => {
    const path = join(staging, name)
    createdFiles.defer(() => rm(path, { force: true }))
    return path
  }
  const files: { name: string; path: string }[] = []
  for (const [at, file] of listMachineFiles(definition, variables).entries()) {
    deadline.throwIfAborted()
    await using from = await openMachineFile(hostFiles, { name: definition.name, home }, file.path)
    const copyFile = selectCopy(file, at)
    const path = copyFile ? toStaging(file.name) : resolveMachinePath(home, file.path)
    if (copyFile) {
      await copyFile(path, from, deadline)
      await utimes(path, from.modifiedAt, from.modifiedAt)
    }
    files.push({ name: file.name, path })
  }
  const path = toStaging(definitionFile)
  await writeFile(path, JSON.stringify(flattenDefinition(definition), undefined, 2), { mode: 0o600 })
  const madeAt = new Date(definition.created_at)
  await utimes(path, madeAt, madeAt)
  const cleanUp = createdFiles.move()
  return { files: [{ name: definitionFile, path }, ...files], [Symbol.asyncDispose]: () => cleanUp.disposeAsync() }
}
