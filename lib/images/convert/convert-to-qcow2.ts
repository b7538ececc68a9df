import { constants } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { createProgressReader } from '#lib/hypervisor/qemu/qemu-img/read-progress.ts'
import { allowReading } from '#lib/hypervisor/qemu/ownership.ts'
import type { QemuPrograms } from '#lib/hypervisor/qemu/programs.ts'
import { syncFolder } from '#lib/platform/files.ts'
import { getInheritedPath, type OpenFile } from '#lib/platform/open-file.ts'
import { type Account, runProcess } from '#lib/platform/processes.ts'
import type { DiskFacts } from '../formats/facts.ts'
import { createImageFile } from '../formats/image-file.ts'
import { inspectQcow2 } from '../formats/qcow2/inspect-qcow2.ts'
import { explainConversionFailure } from './explain-conversion-failure.ts'
import { computeLimits, limitCommand, limitedEnvironment } from './resource-limits.ts'
import { buildSourceNode } from './source-node.ts'

/** The program that converts, and the account that it runs as; left out, it runs as the service. */
export interface ConversionTools {
  readonly programs: Pick<QemuPrograms, 'img' | 'environment'>
  readonly account?: Account | undefined
}

export interface Conversion {
  /** The open image, to which nobody writes meanwhile. With an account, the group of the account gets the right to read it. */
  readonly source: OpenFile
  /** What `inspectImage` returned for the image, or for one disk in it. */
  readonly facts: DiskFacts
  /** The absolute path of the new image, where nothing may be. */
  readonly target: string
  readonly deadline: AbortSignal
  /** Called with the part that is done, from 0 to 1. */
  readonly onProgress: (fraction: number) => void
}

const day = 24 * 3600_000

/** Runs qemu-img, which opens only these two files, by the descriptors that it inherits. */
const runConversion = async (
  { programs, account }: ConversionTools,
  { source, facts, target, deadline, onProgress }: Conversion,
  targetHandle: FileHandle,
): Promise<void> => {
  const limits = await computeLimits(facts, target)
  const node = `json:${JSON.stringify(buildSourceNode(facts, getInheritedPath(source, 0)))}`
  const targetPath = getInheritedPath({ path: target }, 1)
  const [program, args] = limitCommand(limits, [programs.img, 'convert', '-p', '-O', 'qcow2', node, targetPath])
  const finished = await runProcess(program, args, {
    timeout: day,
    signal: deadline,
    account,
    environment: { ...programs.environment, ...limitedEnvironment, LC_ALL: 'C' },
    descriptors: [source.handle.fd, targetHandle.fd],
    onOutput: createProgressReader(onProgress),
  }).catch((error: unknown) => {
    deadline.throwIfAborted()
    throw new ServiceError('unavailable', `${program} could not be started, so no image can be converted.`, {
      cause: error,
    })
  })
  if (finished.code !== 0) throw explainConversionFailure(finished, limits)
}

/** Inspects what qemu-img wrote: a hostile source may have made qemu-img write anything. */
const checkResult = async (handle: FileHandle, { virtualSize }: DiskFacts): Promise<void> => {
  const { size } = await handle.stat()
  const result = await inspectQcow2(createImageFile({ handle, size }))
  if (result.virtualSize !== virtualSize)
    throw new ServiceError('invalid', 'The image cannot be converted: its disk changed its size meanwhile.')
}

/**
 * Copies one disk of an accepted image into a new qcow2 image without backing file, which only the service can read. qemu-img
 * runs within limits of memory, time and output, with no path to any other file, and its result is inspected. Zeros become holes.
 * Leaves nothing after a failure. Throws `invalid` for a damaged content, `no-space`, `timeout`, `conflict`
 * for an image in use, `unavailable` without qemu-img, or the reason of the deadline.
 */
export const convertToQcow2 = async (tools: ConversionTools, conversion: Conversion): Promise<void> => {
  const { source, facts, target, deadline } = conversion
  const { account } = tools
  deadline.throwIfAborted()
  const { O_CREAT, O_EXCL, O_RDWR, O_NOFOLLOW } = constants
  const handle = await open(target, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0o600)
  try {
    try {
      if (account) {
        await allowReading(source.handle, account)
        await handle.chown(account.uid, account.gid)
      }
      await runConversion(tools, conversion, handle)
      if (account) await handle.chown(0, 0)
      await handle.chmod(0o600)
      await checkResult(handle, facts)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await syncFolder(dirname(target))
  } catch (error) {
    await rm(target, { force: true })
    throw error
  }
}
