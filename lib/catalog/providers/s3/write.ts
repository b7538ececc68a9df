import { isFault, ServiceError } from '#lib/errors.ts'
import { handlePieces, MiB, type Piece, smallestPiece } from '../http/pieces.ts'
import type { Source, WriteOptions } from '../provider.ts'
import type { Client } from './client.ts'
import type { Uploads } from './uploads.ts'

const lanes = 4

/** S3 takes 10,000 parts; the size of a part follows from the whole alone, so that a later try cuts in the same places. */
const pieceSizeOf = (size: number): number => Math.max(smallestPiece, Math.ceil(size / 9_000 / MiB) * MiB)

const unlike = (path: string): ServiceError =>
  new ServiceError('conflict', `The bytes of ${path} are not those that their SHA-256 says.`)

export const createWrite = (client: Client, uploads: Uploads) => {
  const writeSmall = async (key: string, source: Source, { signal, sha256, onProgress }: WriteOptions) => {
    let only: Piece | undefined
    const options = { pieceSize: smallestPiece, lanes: 1, pieceDigest: 'md5', digests: ['sha256'], signal } as const
    const whole = await handlePieces(source, options, async piece => {
      only = piece
    })
    if (sha256 !== undefined && whole.sha256 !== sha256) throw unlike(key)
    const { bytes: body, digest: md5 } = only!
    await client.ask({
      method: 'PUT',
      key,
      headers: { 'content-md5': md5.toString('base64'), 'x-amz-meta-sha256': whole.sha256 },
      body,
      signal,
      ...(onProgress && { onSent: onProgress }),
    })
    onProgress?.(source.size)
  }

  const writeLarge = async (key: string, source: Source, { signal, sha256, onProgress }: WriteOptions) => {
    const target = { key, sha256, signal }
    const upload = await uploads.open(target)
    const etags: string[] = []
    let done = 0
    try {
      const pieceSize = pieceSizeOf(source.size)
      const options = { pieceSize, lanes, pieceDigest: 'md5', digests: ['sha256'], signal } as const
      const whole = await handlePieces(source, options, async ({ index, bytes, digest: md5 }, until) => {
        const isThere = upload.parts.get(index + 1) === md5.toString('hex')
        etags[index] = isThere
          ? md5.toString('hex')
          : await uploads.send(target, upload.id, index + 1, bytes, md5, until)
        done += bytes.length
        onProgress?.(done)
      })
      if (sha256 !== undefined && whole.sha256 !== sha256) throw unlike(key)
      await uploads.complete(target, upload, etags)
    } catch (error) {
      // What nobody can recognise later, or is not what it should be, is of no use to a later try.
      if (sha256 === undefined || isFault(error, 'conflict')) await uploads.abort(target, upload).catch(() => undefined)
      if (!isFault(error, 'not-found')) throw error
      throw new ServiceError('upstream', `The upload of ${key} was ended by somebody else; send it again.`, {
        cause: error,
      })
    }
  }

  return async (key: string, source: Source, options: WriteOptions): Promise<void> => {
    if (source.size <= smallestPiece) return writeSmall(key, source, options)
    await writeLarge(key, source, options)
    // Of other bytes, which an earlier try may have begun to send.
    await uploads.end(key, options.signal)
  }
}
