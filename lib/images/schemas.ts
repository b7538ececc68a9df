import * as z from 'zod'
import { knownObject } from '#lib/access/known-members.ts'
import type { Fault } from '#lib/errors.ts'

const digestPattern = /^[0-9a-f]{64}$/i

/** A SHA-256 in hex. */
export const Digest = z
  .string()
  .regex(digestPattern, 'must be a SHA-256: 64 hexadecimal digits')
  .transform(text => text.toLowerCase())

/** True for a text that names an image by a digest, not by its name. */
export const isDigest = (text: string): boolean => digestPattern.test(text)

/** A valid name of an image: no control characters, no path separators, not an id and not a digest. */
export const ImageName = z
  .string()
  .trim()
  .min(1)
  .max(128)
  .regex(/^[^\p{C}/\\]+$/u, 'must not contain control characters, / or \\')
  .refine(name => name !== '.' && name !== '..', 'must not be . or ..')
  .refine(name => !isDigest(name) && !z.uuid().safeParse(name).success, 'must not look like a digest or an id')

/** An image in a path or a body: its name in any case, its id, or a digest. */
export const ImageReference = z.object({
  id: z.string().min(1).max(128).meta({ description: 'Name in any case, id, or SHA-256' }),
})

export const imageFormats = ['raw', 'qcow2', 'vmdk', 'vhdx', 'ova', 'iso'] as const

const Firmware = z.enum(['bios', 'uefi']).meta({ description: 'The firmware that machines of this image get' })

/** A registered image as clients see it. Sizes are in bytes. */
export const Image = z
  .object({
    id: z.uuid(),
    name: z.string(),
    kind: z.enum(['disk', 'iso']).meta({ description: 'disk: for disks of machines; iso: for CD-ROM drives' }),
    description: z.string(),
    source_url: z.string().optional().meta({ description: 'Where it was pulled from, without credentials and query' }),
    format: z.enum(imageFormats).meta({ description: 'The format in which it came; disks are stored as qcow2' }),
    sha256: z.string().meta({ description: 'SHA-256 of what was pulled or uploaded' }),
    digest: z.string().meta({ description: 'SHA-256 of the stored file' }),
    virtual_size: z.int().meta({ description: 'Bytes of the disk as a guest sees it' }),
    size: z.int().meta({ description: 'Bytes of the stored file' }),
    firmware: Firmware.optional(),
    created_at: z.string(),
    created_by: z.string().meta({ description: 'Id of the user' }),
  })
  .meta({ id: 'Image' })
export type Image = z.infer<typeof Image>

const WebAddress = z
  .string()
  .max(8192)
  .refine(
    text => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    'must be an address with http:// or https://',
  )

export const CreateImage = knownObject('an image', {
  name: ImageName,
  url: WebAddress.optional().meta({ description: 'Where the service fetches the file' }),
  upload: z
    .literal(true)
    .optional()
    .meta({ description: 'true: the file is what was uploaded under this name; sha256 must be its digest' }),
  sha256: Digest.optional().meta({ description: 'The SHA-256 that the file must have' }),
  checksums_url: WebAddress.optional().meta({
    description: 'Address of a SHA256SUMS file, which names the last part of url',
  }),
  description: z.string().max(4096).default(''),
  firmware: Firmware.optional(),
})
  .refine(({ url, upload }) => (url === undefined) !== (upload === undefined), {
    path: ['url'],
    message: 'must be an address to pull from, or upload must be true; one of the two',
  })
  .refine(({ upload, sha256 }) => !upload || sha256 !== undefined, {
    path: ['sha256'],
    message: 'must be the digest of the uploaded file',
  })
  .refine(({ url, checksums_url: checksums }) => checksums === undefined || url !== undefined, {
    path: ['checksums_url'],
    message: 'goes with url only',
  })
  .refine(({ sha256, checksums_url: checksums }) => sha256 === undefined || checksums === undefined, {
    path: ['checksums_url'],
    message: 'or sha256 must be left out, because one digest decides',
  })
export type CreateImage = z.infer<typeof CreateImage>

export const UploadReference = z.object({ name: ImageName.meta({ description: 'Name of the image to be' }) })

export const Upload = z
  .object({
    name: z.string(),
    offset: z.int().meta({ description: 'Bytes that are there; the next range begins here' }),
  })
  .meta({ id: 'ImageUpload' })
export type Upload = z.infer<typeof Upload>

/** The bytes of a range. */
export const UploadedBytes = z.instanceof(Uint8Array)

/** The most bytes of one range of an upload. */
export const rangeLimit = 16 * 1024 * 1024

/** Faults of pulls beside those that follow from the contract. */
export const pullFaults = ['not-found', 'too-large', 'upstream'] as const satisfies readonly Fault[]

/** The address without what may be secret: credentials, query and fragment. */
export const redactUrl = (text: string): string => {
  const { origin, pathname } = new URL(text)
  return origin + pathname
}

/** Summarizes the request of a pull for the record of its job. */
export const summarizeCreate = ({ name, url }: CreateImage): Readonly<Record<string, string>> => ({
  name,
  ...(url !== undefined && { source_url: redactUrl(url) }),
})
