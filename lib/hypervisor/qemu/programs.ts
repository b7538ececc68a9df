import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** The programs of a QEMU installation, absolute. */
export interface QemuPrograms {
  readonly system: string
  readonly img: string
  /** The complete environment of these programs. Some of them outlive the service, so they get no other variables of it. */
  readonly environment: Readonly<Record<string, string>>
}

/** Folders of administrative programs, which the PATH of other users than root often lacks. */
const administrativeFolders = ['/usr/sbin', '/sbin']

/** Returns the absolute path of a program on PATH, or among the administrative programs; undefined if there is none. */
export const findProgram = async (name: string): Promise<string | undefined> => {
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter).filter(Boolean), ...administrativeFolders]) {
    const path = join(folder, name)
    const runs = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (runs) return path
  }
  return undefined
}

const inheritedVariables = ['PATH', 'LD_LIBRARY_PATH', 'TZ']

/** Looks for QEMU on PATH; returns undefined if one of the two programs is missing. */
export const findQemu = async (): Promise<QemuPrograms | undefined> => {
  const [system, img] = await Promise.all([findProgram('qemu-system-x86_64'), findProgram('qemu-img')])
  const environment = Object.fromEntries(
    inheritedVariables.flatMap(name => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
  return system && img ? { system, img, environment } : undefined
}
