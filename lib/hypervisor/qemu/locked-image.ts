import { ServiceError } from '#lib/errors.ts'

/**
 * Translates the message of QEMU or qemu-img that another process has locked an image (raw_check_lock_bytes in
 * block/file-posix.c of QEMU) into a `conflict`. Returns undefined for any other message.
 */
export const explainLockedImage = (message: string): ServiceError | undefined => {
  const [, path] = /Is another process using the image \[(.*)\]/.exec(message) ?? []
  if (path === undefined) return undefined
  return new ServiceError(
    'conflict',
    `${path} is in use by another machine or another program of this host. End that, or use a copy of the image.`,
  )
}
