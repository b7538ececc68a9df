import { isFault } from '#lib/errors.ts'
import type { Storage } from '../port/connection.ts'
import { createVerifiedStream } from '../http/response-body.ts'
import { checkObjectSize, getContentLength, parseModifiedAt } from '../http/response.ts'
import { createRangeHeader, getBodySize } from '../http/range.ts'
import type { Fetcher } from '../http/fetcher.ts'
import { findElements, findText, type XmlElement } from '../http/xml.ts'
import { isObjectPath, splitObjectPath } from '../port/object-path.ts'
import type { ObjectStat, Provider } from '../port/provider.ts'
import { createAzureClient } from './client.ts'
import { parseContainerEndpoint } from './container-endpoint.ts'
import { listPages } from './list-pages.ts'
import { writeBlob } from './write.ts'

/** Parses the MD5 of a blob, which is in base64. Other clients store its hex text where Azure expects its bytes. */
const parseMd5 = (text: string | undefined): Pick<ObjectStat, 'md5'> => {
  const bytes = Buffer.from(text ?? '', 'base64')
  const md5 = bytes.length === 32 ? bytes.toString('latin1') : bytes.toString('hex')
  return /^[0-9a-f]{32}$/i.test(md5) ? { md5: md5.toLowerCase() } : {}
}

const getSha256 = (value: unknown): string | undefined => /^[0-9a-f]{64}$/.exec(String(value))?.[0]

const getBlobName = (path: string): string => splitObjectPath(path).join('/')

/** Gives the metadata of a blob in a list. Throws `upstream` for an impossible size. */
const parseBlob = (host: string, path: string, blob: XmlElement): ObjectStat => {
  const sha256 = getSha256(findElements(blob, 'Metadata').map(metadata => findText(metadata, 'sha256'))[0])
  return {
    path,
    size: checkObjectSize(host, path, Number(findText(blob, 'Content-Length') ?? 0)),
    ...parseModifiedAt(findText(blob, 'Last-Modified')),
    ...parseMd5(findText(blob, 'Content-MD5')),
    ...(sha256 !== undefined && { sha256 }),
  }
}

/** Stores objects as blobs of a container of Azure. Throws `invalid` for an incomplete connection. */
export const createAzure = async (storage: Storage, fetcher: Fetcher): Promise<Provider> => {
  const endpoint = parseContainerEndpoint(storage)
  const client = createAzureClient(endpoint, fetcher)
  const { host } = endpoint

  return {
    type: storage.type,

    async stat(path, signal) {
      try {
        const { headers } = await client.send({ method: 'HEAD', key: getBlobName(path), signal })
        const sha256 = getSha256(headers['x-ms-meta-sha256'])
        return {
          path,
          size: checkObjectSize(host, path, getContentLength({ headers })),
          ...parseModifiedAt(headers['last-modified']),
          ...parseMd5(String(headers['content-md5'] ?? '')),
          ...(sha256 !== undefined && { sha256 }),
          ...(headers.etag !== undefined && { version: headers.etag }),
        }
      } catch (error) {
        if (isFault(error, 'not-found')) return undefined
        throw error
      }
    },

    async read(path, { range, signal } = {}) {
      const key = getBlobName(path)
      const rangeHeader = createRangeHeader(path, range)
      const { headers, body } = await client.open({ method: 'GET', key, headers: rangeHeader, signal })
      const found = { host, what: path, length: headers['content-length'], range: headers['content-range'] }
      const sha256 = range ? undefined : getSha256(headers['x-ms-meta-sha256'])
      return createVerifiedStream(body, { host, what: path, size: getBodySize(body, found, range), sha256, signal })
    },

    async write(path, source, options = {}) {
      await writeBlob(client, getBlobName(path), source, options)
    },

    async *list(folder, signal): AsyncGenerator<ObjectStat> {
      const prefix = folder === '' ? '' : `${getBlobName(folder)}/`
      for await (const page of listPages(client, prefix, signal))
        for (const blob of page) {
          const name = findText(blob, 'Name') ?? ''
          if (isObjectPath(name)) yield parseBlob(host, name, blob)
        }
    },

    async remove(path, signal) {
      await client.send({ method: 'DELETE', key: getBlobName(path), signal }).catch((error: unknown) => {
        if (!isFault(error, 'not-found')) throw error
      })
    },
  }
}
