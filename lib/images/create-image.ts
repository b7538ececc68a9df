import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal } from '#lib/access/principal.ts'
import { getSignal, type ProgressReporter } from '#lib/async/progress.ts'
import { TransientError } from '#lib/async/retry.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import { exists } from '#lib/platform/files.ts'
import { throwFullDisk } from '#lib/platform/full-disk.ts'
import { openFile, type OpenFile } from '#lib/platform/open-file.ts'
import type { ImageContext } from './context.ts'
import { convertToQcow2 } from './convert/convert-to-qcow2.ts'
import type { DiskFacts, ImageFacts } from './formats/facts.ts'
import { inspectImage } from './formats/inspect-image.ts'
import { digestFile } from './files/digest-file.ts'
import { type CreateImage, type Image, redactUrl } from './schemas.ts'
import { fetchChecksum } from './source/checksums.ts'
import { downloadFile } from './source/download.ts'
import { pullPlan, type PullStep } from './steps.ts'

/** The files in the work folder of a pull: the one that was fetched, and the disk that is made of it. */
const fileNames = { source: 'source', disk: 'disk.qcow2' } as const

interface Pull {
  readonly context: ImageContext
  readonly caller: Principal
  readonly request: CreateImage
  readonly progress: ProgressReporter<PullStep>
  readonly signal: AbortSignal
  readonly folder: string
}

/** Brings the file into the work folder. Returns the SHA-256 that it must have; undefined if the request has none. */
const fetchSource = async (pull: Pull): Promise<string | undefined> => {
  const { context, caller, request, progress, signal, folder } = pull
  const { url: address, checksums_url: checksums, sha256: given } = request
  const source = join(folder, fileNames.source)
  if (address === undefined) {
    // An earlier run of the job may have moved it.
    if (!(await exists(source))) await context.uploads.move(caller, request.name, source)
    return given
  }
  const url = new URL(address)
  const expected =
    checksums === undefined ? given : await fetchChecksum(context.outgoing, new URL(checksums), url, signal)
  await downloadFile({
    open: context.outgoing,
    url,
    folder,
    fileName: fileNames.source,
    maxBytes: context.maxBytes,
    hasDigest: expected !== undefined,
    signal,
    onProgress: (bytes, total) => progress.advance('image_fetch_stage', bytes, total),
    checkRoom: context.checkRoom,
  })
  return expected
}

/** Computes the digest of the file. Throws `upstream` or `invalid` if it is not the expected one. */
const verifySource = async (
  { request: { url }, progress, signal }: Pull,
  file: OpenFile,
  expected: string | undefined,
): Promise<string> => {
  const onProgress = (bytes: number): void => progress.advance('image_verify_stage', bytes, file.size)
  const sha256 = await digestFile(file, { signal, onProgress })
  if (expected === undefined || sha256 === expected) return sha256
  throw new ServiceError(
    url === undefined ? 'invalid' : 'upstream',
    `The file has the SHA-256 ${sha256} and not ${expected}, so it is not used. It was changed, or the digest is that of another file.`,
  )
}

/** Returns the one disk of an image. Throws `invalid` for an archive of several. */
const findDisk = (facts: ImageFacts): DiskFacts => {
  if (facts.format !== 'ova') return facts
  const [disk, ...others] = facts.disks
  if (disk && others.length === 0) return disk
  throw new ServiceError(
    'invalid',
    `The OVA has ${facts.disks.length} disks (${facts.disks.map(({ name }) => name).join(', ')}), and an image is one disk. Take the disks out of it, and register each.`,
  )
}

/** Makes the file that is stored. Returns its path. */
const prepareFile = async (pull: Pull, source: OpenFile, facts: ImageFacts): Promise<string> => {
  const { context, progress, signal, folder } = pull
  if (facts.format === 'iso') {
    progress.skip('image_convert_stage', 'not needed, an ISO image stays as it is')
    return source.path
  }
  const disk = findDisk(facts)
  if (!context.tools)
    throw new ServiceError(
      'unsupported',
      'Disk images are unsupported on this host, which has no qemu-img to convert them: install QEMU. ISO images are possible.',
    )
  if (facts.virtualSize > context.maxBytes)
    throw new ServiceError(
      'too-large',
      `The disk in the image has ${facts.virtualSize} bytes, more than ${context.maxBytes}, the maximum. The setting image_max_size decides.`,
    )
  progress.begin('image_convert_stage')
  const target = join(folder, fileNames.disk)
  // A run of the job that was killed may have left a part of it.
  await rm(target, { force: true })
  await convertToQcow2(context.tools, {
    source,
    facts: disk,
    target,
    deadline: signal,
    onProgress: fraction => progress.advance('image_convert_stage', Math.round(fraction * 1000) / 10, 100),
  })
  progress.end('image_convert_stage')
  return target
}

const runPull = async (pull: Pull, id: string): Promise<Image> => {
  const { context, caller, request, progress, signal } = pull
  const { name, description, firmware, url } = request
  progress.begin('image_fetch_stage')
  const expected = await fetchSource(pull)
  progress.end('image_fetch_stage')
  await using source = await openFile(join(pull.folder, fileNames.source))
  progress.begin('image_verify_stage')
  const sha256 = await verifySource(pull, source, expected)
  progress.end('image_verify_stage')
  const facts = await inspectImage(source, signal)
  const path = await prepareFile(pull, source, facts)
  progress.begin('image_register_stage')
  const kind = facts.format === 'iso' ? 'iso' : 'disk'
  const image = await context.files.add(path, kind, signal, async ({ digest, size }) => {
    const added: Image = {
      id,
      name,
      kind,
      description,
      ...(url !== undefined && { source_url: redactUrl(url) }),
      format: facts.format,
      sha256,
      digest,
      virtual_size: facts.virtualSize,
      size,
      ...(firmware !== undefined && { firmware }),
      created_at: new Date().toISOString(),
      created_by: caller.id,
    }
    await context.records.add(added)
    return added
  })
  progress.end('image_register_stage')
  return image
}

/** Returns what the name of a work folder is derived from: a later try of the same pull finds what an earlier one has left. */
const listFolderKeys = ({ id: caller }: Principal, { url, name, sha256 = '' }: CreateImage, id: string): string[] =>
  url === undefined ? ['image', id] : ['image', caller, name.toLowerCase(), url, sha256]

/**
 * Pulls an image from an address, or takes an uploaded one: verifies and inspects it, makes a qcow2 file of a disk, and registers
 * it. The image exists completely or not at all. The id of the job becomes that of the image, so a job that is resumed after a
 * kill finds the image that it has made. Throws `invalid` with what is wrong with the file, `conflict` for a name in use, `forbidden`
 * for an address that this service may not reach, `upstream`, `too-large`, `no-space`, and the reason of the signal.
 */
export const createImage = async (
  context: ImageContext,
  caller: Principal,
  request: CreateImage,
  progress: ProgressReporter<PullStep>,
): Promise<Image> => {
  const { id = crypto.randomUUID() } = progress
  const signal = getSignal(progress)
  const existing = context.records.get(id)
  if (existing) return existing
  await context.records.assertFree(request.name)
  progress.plan(pullPlan)
  const { folders } = context
  const folder = await folders.open('pull', ...listFolderKeys(caller, request, id))
  try {
    const image = await runPull({ context, caller, request, progress, signal, folder }, id)
    await folders.remove(folder)
    return image
  } catch (error) {
    // After a shutdown the next start goes on; after an outage, a later try of the user does.
    const isShutdown = signal.aborted && isFault(signal.reason, 'unavailable')
    if (!isShutdown) await (error instanceof TransientError ? folders.keep(folder) : folders.remove(folder))
    return throwFullDisk(error)
  }
}
