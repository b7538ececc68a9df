import { realpath, stat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { openFile } from '#lib/platform/open-file.ts'
import { abortableAfterGrace } from '#lib/async/abortable.ts'
import { getSignal, type ProgressReporter } from '#lib/async/progress.ts'
import type { ContentItem, MinimumSpecRequirement } from '#lib/catalog/manifest-schema.ts'
import type { ExportHandle } from '#lib/machines/export.ts'
import { listPackFiles, type PackFile } from '#lib/packs/pack-files.ts'
import type { TransferContext } from './context.ts'
import type { PushManifest } from './schemas.ts'
import type { PushStep } from './steps.ts'

/** The files of a machine that is pushed. */
interface MachineFiles {
  readonly type: string
  readonly files: readonly PackFile[]
  /** What the definition of the machine asks for. A bundle has no definition that this service reads. */
  readonly requirements?: MinimumSpecRequirement
}

const toRequirements = ({ cpus, memory, disks }: ExportHandle['definition']): MinimumSpecRequirement => ({
  cpu: cpus,
  memory,
  disk: Math.ceil(disks.reduce((sum, { size }) => sum + size, 0) / (1 << 20)),
})

/** Says whether a file of a bundle belongs to the running machine only, like a lock or a log. */
const isRuntimeFile = (name: string): boolean => /(^|\/)(\.DS_Store|parallels\.log|.*\.lock|.*\.pid)$/i.test(name)

const openBundle = async ({ hostFiles }: TransferContext, path: string): Promise<MachineFiles> => {
  const folder = await hostFiles.folder(path)
  const stats = await stat(folder).catch(() => undefined)
  if (!stats?.isDirectory()) throw new ServiceError('invalid', `The local_path ${path} is not a folder of this host.`)
  const type = extname(folder).slice(1).toLowerCase()
  if (type !== 'pvm' && type !== 'macvm')
    throw new ServiceError(
      'invalid',
      `${basename(folder)} is neither the folder of a machine of this host nor a pvm or macvm bundle.`,
    )
  const files = await listPackFiles(folder, isRuntimeFile, file => hostFiles.open(file))
  // Opening checks the path. All files are checked before any is packed, so that no forbidden file gets into a pack.
  for (const { open } of files) await (await open())[Symbol.asyncDispose]()
  return { type, files }
}

const describeFile = async ({ name, path }: { name: string; path: string }): Promise<PackFile> => {
  await using file = await openFile(path)
  const { mode } = await file.handle.stat()
  const { size, modifiedAt } = file
  return { name, path, size, mode: mode & 0o777, modifiedAt, open: () => openFile(path) }
}

/**
 * Calls `use` with the files of the machine that a push names, and returns its result. A machine of this host is locked
 * meanwhile, and suspended if the push asks for that; of a snapshot, it is only read. Throws `not-found` and `conflict` (the machine runs) for a machine of
 * this host, `invalid` and `forbidden` for a bundle, and what `use` throws.
 */
export const withFilesToPush = async <T>(
  context: TransferContext,
  { uuid, local_path, suspend, snapshot }: PushManifest,
  { caller, staging, progress }: { caller: Principal; staging: string; progress: ProgressReporter<PushStep> },
  use: (machine: MachineFiles, signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const reference =
    local_path === undefined ? uuid : context.machines.findByHome(await realpath(local_path).catch(() => local_path))
  if (reference === undefined) {
    if (snapshot !== undefined)
      throw new ServiceError('invalid', `${local_path} is a bundle, which has no snapshots; leave snapshot out.`)
    // The schema demands one of both.
    const bundle = await openBundle(context, local_path ?? '')
    progress.skip('collect', 'not needed, the files are in a folder')
    return use(bundle, getSignal(progress))
  }
  try {
    await using exported = await context.machines.export(reference, {
      staging,
      progress,
      suspend: suspend === true,
      snapshot,
      caller,
    })
    const { type, definition, files, signal } = exported
    const requirements = toRequirements(definition)
    const useFiles = async (): Promise<T> =>
      use({ type, requirements, files: await Promise.all(files.map(describeFile)) }, signal)
    // The machine is free again after the grace period, so a storage that hangs must not hold up the caller longer either.
    return await abortableAfterGrace(signal, useFiles())
  } catch (error) {
    // If the push failed and then the machine could not be resumed, the caller learns of the machine.
    throw error instanceof SuppressedError ? error.error : error
  }
}

/** Returns the list of files for the manifest. */
export const toContentItems = (files: readonly PackFile[]): ContentItem[] =>
  files.map(({ name, size, modifiedAt }) => ({
    name: basename(name),
    path: `/${name.slice(0, Math.max(0, name.lastIndexOf('/')))}`,
    is_dir: false,
    size,
    hash: '',
    created_at: modifiedAt.toISOString(),
    updated_at: modifiedAt.toISOString(),
  }))
