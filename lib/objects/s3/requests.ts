import { isFault } from '#lib/errors.ts'
import type { StorageClient, StorageRequest } from '../http/storage-client.ts'
import { parseXml, type XmlElement } from '../http/xml.ts'

/** Gives undefined in place of an error that says that something does not exist. */
export const ignoreNotFound = async <T>(reply: Promise<T>): Promise<T | undefined> =>
  reply.catch((error: unknown) => {
    if (isFault(error, 'not-found')) return undefined
    throw error
  })

/** Sends a request and reads its reply as XML. */
export const requestXml = async (client: StorageClient, request: StorageRequest): Promise<XmlElement> =>
  parseXml(client.host, (await client.send(request)).text)
