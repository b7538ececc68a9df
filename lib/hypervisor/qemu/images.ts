import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { getInheritedPath, type OpenFile } from '#lib/platform/open-file.ts'
import { getLastLine, type Limits, runProcess } from '#lib/platform/processes.ts'
import { buildBlockNode } from './block-node.ts'
import { writeOverlay } from './layers/write-overlay.ts'
import { explainLockedImage } from './locked-image.ts'
import { createProgressReader } from './qemu-img/read-progress.ts'

type Format = 'raw' | 'qcow2'

export interface ImageInfo {
  /** Bytes, as the guest sees the disk. */
  readonly size: number
  /** The backing image. */
  readonly backing: string | undefined
  /** The external file that contains the data. */
  readonly dataFile: string | undefined
}

/** An open image with its open backing images, from the nearest to the lowest. qemu-img opens no other file. */
export interface Image {
  readonly format: Format
  readonly file: OpenFile
  readonly layers?: readonly OpenFile[]
}

/**
 * Operations on disk images with qemu-img. It never detects formats or reads backing files from headers: QEMU writes to these images,
 * and a compromised QEMU could name any file of the host there.
 */
export interface Images {
  /** Reads the properties of an image. Throws `invalid` if it is not an image of this format. */
  info(image: Image): Promise<ImageInfo>
  /** Creates an empty qcow2 image of `size` bytes. */
  create(path: string, size: number): Promise<void>
  /** Makes an own qcow2 image larger: `size` is in bytes. */
  grow(path: string, size: number): Promise<void>
  /** Copies an image, with all its layers, into a new qcow2 image. */
  convert(
    from: Image,
    to: string,
    options: { signal: AbortSignal; onProgress: (fraction: number) => void },
  ): Promise<void>
  /**
   * Commits the content of the first image of `chain`, and of those between, into the image `into`. The chain consists of the paths of
   * a qcow2 image and all its backing images, down to the lowest.
   */
  commit(chain: readonly string[], into: string, signal: AbortSignal): Promise<void>
  /** Creates a qcow2 image of `size` bytes with the backing image `base` (absolute, qcow2), which is not opened. */
  overlay(base: string, size: number, path: string): Promise<void>
}

const Info = z.object({
  'virtual-size': z.int(),
  'full-backing-filename': z.string().optional(),
  'backing-filename': z.string().optional(),
  'format-specific': z.object({ data: z.object({ 'data-file': z.string().optional() }).optional() }).optional(),
})

const minute = 60_000

const formatNode = (format: Format, paths: readonly string[]): string =>
  `json:${JSON.stringify(buildBlockNode(format, paths))}`

export const createImages = (program: string): Images => {
  const runQemuImg = async (
    args: readonly string[],
    timeout: number,
    { file, layers = [] }: Partial<Image> = {},
    extraOptions: Pick<Limits, 'signal' | 'onOutput'> = {},
  ): Promise<string> => {
    const files = file ? [file, ...layers] : []
    const descriptors = files.map(({ handle }) => handle.fd)
    const { code, stdout, stderr } = await runProcess(program, args, { timeout, descriptors, ...extraOptions })
    if (code === 0) return stdout
    const message = getLastLine(stderr) || `it ended with ${code}`
    const reason = files.reduceRight((text, one, at) => text.replaceAll(getInheritedPath(one, at), one.path), message)
    if (/no space left/i.test(stderr)) throw new ServiceError('no-space', `The disk of the host is full: ${reason}`)
    throw explainLockedImage(reason) ?? new ServiceError('upstream', `qemu-img refused: ${reason}`)
  }
  const describeInheritedNode = ({ format, file, layers = [] }: Image): string =>
    formatNode(format, [file, ...layers].map(getInheritedPath))

  return {
    async info(image) {
      // -U reads an image although a running machine has locked it.
      const text = await runQemuImg(['info', '--output=json', '-U', describeInheritedNode(image)], minute, image).catch(
        (error: Error) => {
          throw new ServiceError('invalid', `${image.file.path} cannot be used as a disk. ${error.message}`)
        },
      )
      const info = Info.parse(JSON.parse(text))
      const backing = info['full-backing-filename'] ?? info['backing-filename']
      return {
        size: info['virtual-size'],
        backing,
        dataFile: info['format-specific']?.data?.['data-file'],
      }
    },
    async create(path, size) {
      await runQemuImg(['create', '-q', '-f', 'qcow2', path, String(size)], minute)
    },
    async grow(path, size) {
      // Without its backing image: only the header changes, and what the guest reads behind the old end is zero.
      await runQemuImg(['resize', '-q', formatNode('qcow2', [path]), String(size)], minute)
    },
    async convert(from, to, { signal, onProgress }) {
      await runQemuImg(['convert', '-p', '-O', 'qcow2', describeInheritedNode(from), to], 24 * 60 * minute, from, {
        signal,
        onOutput: createProgressReader(onProgress),
      })
    },
    async commit(chain, into, signal) {
      // With `-b` the top image keeps its content, so it reads the same at every moment. The option takes only a path.
      const args = ['commit', '-q', '-b', into, formatNode('qcow2', chain)]
      await runQemuImg(args, 24 * 60 * minute, undefined, { signal })
    },
    overlay: writeOverlay,
  }
}
