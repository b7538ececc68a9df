import { lstat, realpath, stat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { isInside } from '#lib/platform/files.ts'
import type { Work } from '#lib/work.ts'
import type { ContentItem } from '../manifest.ts'
import { filesOf, type PackFile } from '../pack/files.ts'
import type { TransferContext } from './context.ts'
import type { PushManifest } from './requests.ts'

/** The files of a machine that is pushed. */
export interface PushedMachine {
  readonly type: string
  readonly files: readonly PackFile[]
}

/** Names in a bundle that belong to the run of its machine and not to the machine. */
const isOfTheRun = (name: string): boolean => /(^|\/)(\.DS_Store|parallels\.log|.*\.lock|.*\.pid)$/i.test(name)

const realFolder = async (path: string): Promise<string> => {
  const real = await realpath(path).catch(() => undefined)
  if (real === undefined || !(await stat(real)).isDirectory())
    throw new ServiceError('invalid', `The local_path ${path} is not a folder of this host.`)
  return real
}

const bundleIn = async ({ allowedFolders }: TransferContext, folder: string): Promise<PushedMachine> => {
  const type = extname(folder).slice(1).toLowerCase()
  if (type !== 'pvm' && type !== 'macvm')
    throw new ServiceError(
      'invalid',
      `${basename(folder)} is neither the folder of a machine of this host nor a pvm or macvm bundle.`,
    )
  if (allowedFolders.length > 0 && !allowedFolders.some(root => isInside(root, folder)))
    throw new ServiceError('forbidden', `${folder} is outside the folders that machines may be pushed from.`)
  return { type, files: await filesOf(folder, isOfTheRun) }
}

const packFile = async ({ name, path }: { name: string; path: string }): Promise<PackFile> => {
  const { size, mode, mtime } = await lstat(path)
  return { name, path, size, mode: mode & 0o777, modifiedAt: mtime }
}

/**
 * Lends the files of the machine that a push names, suspended meanwhile where it asks for that. Throws `not-found` and
 * `conflict` (it runs) for a machine of this host, `invalid` and `forbidden` for a bundle.
 */
export const withMachineFiles = async <T>(
  context: TransferContext,
  { uuid, local_path, suspend }: PushManifest,
  { staging, work }: { staging: string; work: Work },
  use: (machine: PushedMachine, signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const folder = local_path === undefined ? undefined : await realFolder(local_path)
  const reference = folder === undefined ? uuid : context.machines.at(folder)
  if (reference === undefined) {
    const bundle = await bundleIn(context, folder!)
    work.skip('collect', 'not needed, they are in a folder')
    return use(bundle, work.signal ?? new AbortController().signal)
  }
  return context.machines.export(
    reference,
    { staging, work, suspend: suspend === true },
    async ({ type, files }, signal) => use({ type, files: await Promise.all(files.map(packFile)) }, signal),
  )
}

/** What of a pack the manifest tells. */
export const contentItems = (files: readonly PackFile[]): ContentItem[] =>
  files.map(({ name, size, modifiedAt }) => ({
    name: basename(name),
    path: `/${name.slice(0, Math.max(0, name.lastIndexOf('/')))}`,
    is_dir: false,
    size,
    hash: '',
    created_at: modifiedAt.toISOString(),
    updated_at: modifiedAt.toISOString(),
  }))
