import { ServiceError } from '#lib/errors.ts'
import { type Page, readPages } from '../http/listing.ts'
import type { StorageClient } from '../http/storage-client.ts'
import { findElements, findText, parseXml, type XmlElement } from '../http/xml.ts'

/** Blobs of one page. */
const pageSize = '1000'

/** Lists the blobs of a prefix with their metadata, page by page. Throws `upstream` for a broken or endless list. */
export const listPages = (
  client: StorageClient,
  prefix: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly XmlElement[]> => {
  const read = async (marker: string | undefined): Promise<Page<XmlElement>> => {
    const query = {
      restype: 'container',
      comp: 'list',
      include: 'metadata',
      maxresults: pageSize,
      ...(prefix !== '' && { prefix }),
      ...(marker !== undefined && { marker }),
    }
    const { text } = await client.send({ method: 'GET', key: '', query, signal })
    const [list] = findElements(await parseXml(client.host, text), 'EnumerationResults')
    if (list === undefined)
      throw new ServiceError('upstream', `The storage ${client.host} sent a reply that is not a list of a container.`)
    const blobs = findElements(list, 'Blobs').flatMap(found => findElements(found, 'Blob'))
    return { items: blobs, next: findText(list, 'NextMarker') || undefined }
  }
  return readPages(client.host, read, blob => findText(blob, 'Name') ?? '')
}
