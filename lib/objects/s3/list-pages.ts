import { ServiceError } from '#lib/errors.ts'
import { type Page, readPages } from '../http/listing.ts'
import type { StorageClient } from '../http/storage-client.ts'
import { findElements, findText, parseXml, type XmlElement } from '../http/xml.ts'

/** The continuation token of a page; undefined for the last page. Throws `upstream` for a page that is not a listing. */
const getNextToken = (client: StorageClient, xml: XmlElement): string | undefined => {
  const [list] = findElements(xml, 'ListBucketResult')
  if (list === undefined)
    throw new ServiceError('upstream', `The storage ${client.host} sent a reply that is not a list of a bucket.`)
  if (findText(list, 'IsTruncated') !== 'true') return undefined
  const next = findText(list, 'NextContinuationToken')
  if (next) return next
  throw new ServiceError('upstream', `The storage ${client.host} sent a truncated list without a continuation token.`)
}

/** Lists the objects of a prefix page by page: the element of each. Throws `upstream` for a broken or endless list. */
export const listPages = (
  client: StorageClient,
  prefix: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly XmlElement[]> => {
  const read = async (token: string | undefined): Promise<Page<XmlElement>> => {
    const query = { ...(token !== undefined && { 'continuation-token': token }), 'list-type': '2', prefix }
    const { text } = await client.send({ method: 'GET', key: '', query, signal })
    const xml = await parseXml(client.host, text)
    return { items: findElements(xml, 'Contents'), next: getNextToken(client, xml) }
  }
  return readPages(client.host, read, found => findText(found, 'Key') ?? '')
}
