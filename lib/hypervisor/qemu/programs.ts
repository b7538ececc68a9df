import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** The programs of a QEMU installation, absolute. */
export interface QemuPrograms {
  readonly system: string
  readonly img: string
}

const find = async (name: string): Promise<string | undefined> => {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, name)
    const runs = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (runs) return path
  }
  return undefined
}

/** Looks for QEMU on PATH; undefined where one of the two programs is missing. */
export const findQemu = async (): Promise<QemuPrograms | undefined> => {
  const [system, img] = await Promise.all([find('qemu-system-x86_64'), find('qemu-img')])
  return system && img ? { system, img } : undefined
}
