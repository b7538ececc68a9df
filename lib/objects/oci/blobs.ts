import { readVerified } from '../http/response-body.ts'
import { getRedirectTarget } from '../http/follow-redirects.ts'
import { createRangeHeader, getBodySize } from '../http/range.ts'
import { drain, getHeader, isSuccess, replyError } from '../http/response.ts'
import { withRetry } from '#lib/async/retry.ts'
import type { Reply } from '../http/fetcher.ts'
import { createBody } from '../http/request-body.ts'
import type { ByteRange } from '../port/provider.ts'
import type { Layer } from './oci-manifest.ts'
import type { Registry } from './registry.ts'

/** A running upload: the URL for its next bytes, and how many bytes the registry has. */
interface Upload {
  readonly url: URL
  readonly offset: number
}

const headers = { 'Content-Type': 'application/octet-stream' }

/** How many bytes of an upload a registry has: `Range: 0-99`. For none, registries send `0-0` or no header. */
const getUploadOffset = (reply: Reply): number => {
  const [, last = '0'] = /^(?:bytes=)?0-(\d+)$/.exec(getHeader(reply, 'range') ?? '') ?? []
  return Number(last) === 0 ? 0 : Number(last) + 1
}

/** Reads and writes the blobs of a repository. `mountFrom` names another repository of the registry that may have them. */
export const createBlobs = ({ url, send, sendWithoutRetry, read }: Registry, mountFrom: string | undefined) => {
  const exists = async ({ digest }: Layer, signal: AbortSignal | undefined): Promise<boolean> => {
    const reply = await read({ url: url(`blobs/${digest}`), method: 'HEAD', signal })
    drain(reply)
    if (reply.status !== 200 && reply.status !== 404) throw replyError(reply, 'a blob')
    return reply.status === 200
  }

  /** Starts an upload; undefined when the registry has mounted the blob instead. */
  const startUpload = async ({ digest }: Layer, signal: AbortSignal | undefined): Promise<Upload | undefined> => {
    const mount = mountFrom === undefined ? '' : `?${new URLSearchParams({ mount: digest, from: mountFrom })}`
    const reply = await sendWithoutRetry({ url: url(`blobs/uploads/${mount}`), method: 'POST', signal })
    if (reply.status !== 201 && reply.status !== 202) throw replyError(reply, 'an upload')
    drain(reply)
    return reply.status === 201 ? undefined : { url: getRedirectTarget(reply), offset: 0 }
  }

  /** Asks for the state of an upload; undefined when the registry does not report it or has forgotten the upload. */
  const getUploadProgress = async (upload: Upload, signal: AbortSignal | undefined): Promise<Upload | undefined> => {
    const reply = await sendWithoutRetry({ url: upload.url, method: 'GET', signal })
    drain(reply)
    return reply.status === 204 ? { url: getRedirectTarget(reply), offset: getUploadOffset(reply) } : undefined
  }

  /** Completes an upload. The registry checks the digest now. */
  const completeUpload = async (upload: Upload, layer: Layer, signal: AbortSignal | undefined): Promise<void> => {
    // The query of the registry must stay as it is.
    const { href, search } = upload.url
    const url = new URL(`${href}${search === '' ? '?' : '&'}digest=${layer.digest}`)
    const reply = await send({ url, method: 'PUT', headers, signal })
    if (isSuccess(reply)) return drain(reply)
    const error = replyError(reply, 'the end of an upload')
    // When the reply to an earlier attempt was lost, the upload is gone and the blob exists.
    if (!(await exists(layer, signal))) throw error
  }

  return {
    /** Sends a layer that the registry does not have. After a broken connection the upload resumes. */
    async write(layer: Layer, bytes: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
      if (await exists(layer, signal)) return
      let upload: Upload | undefined
      const send = async (): Promise<Upload | undefined> => {
        upload = (upload && (await getUploadProgress(upload, signal))) ?? (await startUpload(layer, signal))
        if (!upload || upload.offset === layer.size) return upload
        const { offset } = upload
        const reply = await sendWithoutRetry({
          url: upload.url,
          method: 'PATCH',
          headers: { ...headers, 'Content-Range': `${offset}-${layer.size - 1}` },
          body: createBody(bytes.subarray(offset)),
          signal,
        })
        if (!isSuccess(reply)) throw replyError(reply, 'a layer')
        drain(reply)
        return { url: getRedirectTarget(reply), offset: layer.size }
      }
      const sent = await withRetry(send, signal)
      if (sent) await completeUpload(sent, layer, signal)
    },

    /** Reads a range of a layer. A whole layer is compared with its digest at the end. */
    async read(
      layer: Layer,
      { start, end }: ByteRange,
      signal: AbortSignal | undefined,
    ): Promise<AsyncIterable<Uint8Array>> {
      const isWhole = start === 0 && end === layer.size
      const what = `the blob ${layer.digest}`
      const headers = isWhole ? {} : createRangeHeader(what, { start, end })
      const reply = await read({ url: url(`blobs/${layer.digest}`), method: 'GET', headers, signal })
      if (!isSuccess(reply)) throw replyError(reply, what)
      const { host } = reply.url
      if (isWhole)
        return readVerified(reply.body, { host, what, size: end, sha256: layer.digest.slice('sha256:'.length), signal })
      const [length, range] = [reply.headers['content-length'], reply.headers['content-range']]
      const size = getBodySize(reply.body, { host, what, length, range }, { start, end })
      return readVerified(reply.body, { host, what, size, signal })
    },
  }
}
