import { isAbsolute, join } from 'node:path'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { HostFiles } from '#lib/platform/host-files.ts'
import { type Access, openFile, type OpenFile } from '#lib/platform/open-file.ts'

/** Opens files of the host for drivers. It checks every path that came from a request at each use. */
export type HostFileOpener = Pick<HostFiles, 'open'>

/**
 * Opens a host file that a request names. Throws the refusal of the opener; the message names the `field` of the request.
 */
export const openRequestedFile = async (
  hostFiles: HostFileOpener,
  field: string,
  path: string,
  access?: Access,
): Promise<OpenFile> => {
  try {
    return await hostFiles.open(path, access)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw new ServiceError(error.fault, `${field}: ${error.message}`, { cause: error })
  }
}

/** The machine that a file belongs to. */
export interface FileOwner {
  readonly name: string
  readonly home: string
}

/**
 * Opens a file that the definition of a machine names: directly in its folder, or a host file through the opener's checks.
 * Throws `forbidden` if the host file may not be used any more, and `conflict` if it is missing or not a regular file.
 */
export const openMachineFile = async (
  hostFiles: HostFileOpener,
  { name, home }: FileOwner,
  path: string,
  access?: Access,
): Promise<OpenFile> => {
  try {
    return await (isAbsolute(path) ? hostFiles.open(path, access) : openFile(join(home, path), access))
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
