import { isAbsolute, join } from 'node:path'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { HostFiles } from '#lib/platform/host-files.ts'
import { type Access, openFile, type OpenFile } from '#lib/platform/open-file.ts'
import type { OpenFolder } from '#lib/platform/open-folder.ts'

/** Opens files and folders of the host for drivers. It checks every path that came from a request at each use. */
export type HostFileOpener = Pick<HostFiles, 'open' | 'openFolder'>

/** Throws a refusal with the `field` of the request before its message, and any other error as it is. */
const throwForField = (error: unknown, field: string): never => {
  if (!(error instanceof ServiceError)) throw error
  throw new ServiceError(error.fault, `${field}: ${error.message}`, { cause: error })
}

/** Opens a host file that a request names. Throws the refusal of the opener; the message names the `field` of the request. */
export const openRequestedFile = (
  hostFiles: HostFileOpener,
  field: string,
  path: string,
  access?: Access,
): Promise<OpenFile> => hostFiles.open(path, access).catch((error: unknown) => throwForField(error, field))

/** Opens a folder of the host that a request names, as `openRequestedFile` opens a file. */
export const openRequestedFolder = (hostFiles: HostFileOpener, field: string, path: string): Promise<OpenFolder> =>
  hostFiles.openFolder(path).catch((error: unknown) => throwForField(error, field))

/** The machine that a file belongs to. */
export interface FileOwner {
  readonly name: string
  readonly home: string
}

/** Runs `open` and puts the machine's name before a refusal. What is missing or no file is a `conflict` here. */
const explainMachineFile = async <T>(name: string, open: () => Promise<T>): Promise<T> => {
  try {
    return await open()
  } catch (error) {
    if (isFault(error, 'invalid') || isFault(error, 'forbidden'))
      throw new ServiceError(
        error.fault === 'forbidden' ? 'forbidden' : 'conflict',
        `A file of ${name} cannot be used: ${error.message}`,
        { cause: error },
      )
    throw error
  }
}

/**
 * Opens a file that the definition of a machine names: directly in its folder, or a host file through the opener's checks.
 * Throws `forbidden` if the host file may not be used any more, and `conflict` if it is missing or not a regular file.
 */
export const openMachineFile = (
  hostFiles: HostFileOpener,
  { name, home }: FileOwner,
  path: string,
  access?: Access,
): Promise<OpenFile> =>
  explainMachineFile(name, () => (isAbsolute(path) ? hostFiles.open(path, access) : openFile(join(home, path), access)))

/** Opens a folder of the host that the definition of a machine names. Throws as `openMachineFile`. */
export const openMachineFolder = (
  hostFiles: HostFileOpener,
  { name }: Pick<FileOwner, 'name'>,
  path: string,
): Promise<OpenFolder> => explainMachineFile(name, () => hostFiles.openFolder(path))
