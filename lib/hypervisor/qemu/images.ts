import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { lastLine, type Limits, runProcess } from '#lib/platform/processes.ts'

export interface ImageInfo {
  readonly format: 'raw' | 'qcow2'
  /** Bytes, as the guest sees the disk. */
  readonly size: number
  /** The image that this one builds on. */
  readonly backing: string | undefined
  /** The file beside the image that holds its data. */
  readonly dataFile: string | undefined
}

/** Disk images, by way of qemu-img. */
export interface Images {
  /** Throws `invalid` for what is no image of a kind that machines can use, or not of `format` where that is given. */
  info(path: string, format?: 'raw' | 'qcow2'): Promise<ImageInfo>
  /** An empty qcow2 image of `size` bytes. */
  create(path: string, size: number): Promise<void>
  /** Copies an image, with all that it builds on, into a new qcow2 image. */
  convert(
    from: { path: string; format: string },
    to: string,
    how: { signal: AbortSignal; progress: (part: number) => void },
  ): Promise<void>
  /** A new qcow2 image that builds on `base` (absolute, qcow2). */
  overlay(base: string, path: string): Promise<void>
}

const Info = z.object({
  format: z.string(),
  'virtual-size': z.int(),
  'full-backing-filename': z.string().optional(),
  'backing-filename': z.string().optional(),
  'format-specific': z.object({ data: z.object({ 'data-file': z.string().optional() }).optional() }).optional(),
})

const minute = 60_000

export const createImages = (program: string): Images => {
  const run = async (
    args: readonly string[],
    timeout: number,
    more: Pick<Limits, 'signal' | 'onOutput'> = {},
  ): Promise<string> => {
    const { code, stdout, stderr } = await runProcess(program, args, { timeout, ...more })
    if (code === 0) return stdout
    const reason = lastLine(stderr) || `it ended with ${code}`
    if (/no space left/i.test(stderr)) throw new ServiceError('no-space', `The disk of the host is full: ${reason}`)
    throw new ServiceError('upstream', `qemu-img refused: ${reason}`)
  }
  return {
    async info(path, format) {
      // -U reads an image that a running machine holds.
      const text = await run(['info', '--output=json', '-U', ...(format ? ['-f', format] : []), path], minute).catch(
        (error: Error) => {
          throw new ServiceError('invalid', `${path} cannot be used as a disk. ${error.message}`)
        },
      )
      const info = Info.parse(JSON.parse(text))
      if (info.format !== 'raw' && info.format !== 'qcow2')
        throw new ServiceError('invalid', `${path} is a ${info.format} image; machines use raw and qcow2.`)
      const backing = info['full-backing-filename'] ?? info['backing-filename']
      return {
        format: info.format,
        size: info['virtual-size'],
        backing,
        dataFile: info['format-specific']?.data?.['data-file'],
      }
    },
    async create(path, size) {
      await run(['create', '-q', '-f', 'qcow2', path, String(size)], minute)
    },
    async convert({ path, format }, to, { signal, progress }) {
      await run(['convert', '-p', '-f', format, '-O', 'qcow2', path, to], 24 * 60 * minute, {
        signal,
        onOutput(text) {
          const percent = text.match(/\d+(?:\.\d+)?(?=\/100%)/g)?.at(-1)
          if (percent !== undefined) progress(Number(percent) / 100)
        },
      })
    },
    async overlay(base, path) {
      await run(['create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', base, path], minute)
    },
  }
}
