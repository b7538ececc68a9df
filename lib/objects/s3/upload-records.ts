import { createHash } from 'node:crypto'
import { hiddenPrefix } from '../port/object-path.ts'
import type { StorageClient } from '../http/storage-client.ts'
import { findElements, findText } from '../http/xml.ts'
import { ignoreNotFound, requestXml } from './requests.ts'

/** What the record of a multipart upload says. */
export interface UploadRecord {
  /** The id that S3 gave the upload; empty when S3 has not given it yet. */
  readonly uploadId: string
  /** The key of the object. */
  readonly objectKey: string
}

const recordPrefix = `${hiddenPrefix}uploads/`

/** The prefix of the keys of all records of an object. */
const getRecordPrefix = (objectKey: string): string =>
  `${recordPrefix}${createHash('sha256').update(objectKey).digest('hex')}/`

export const getRecordKey = (objectKey: string, sha256: string): string => getRecordPrefix(objectKey) + sha256

const formatRecord = ({ uploadId, objectKey }: UploadRecord): Buffer => Buffer.from(`${uploadId}\n${objectKey}`)

const parseRecord = (text: string): UploadRecord => {
  const [uploadId = '', objectKey = ''] = text.split('\n')
  return { uploadId, objectKey }
}

/** Reads and writes the records of multipart uploads, which are hidden objects of the same bucket. */
export const createUploadRecords = (client: StorageClient) => ({
  async read(recordKey: string, signal: AbortSignal | undefined): Promise<UploadRecord | undefined> {
    const reply = await ignoreNotFound(client.send({ method: 'GET', key: recordKey, signal }))
    return reply && parseRecord(reply.text)
  },

  async write(recordKey: string, record: UploadRecord, signal: AbortSignal | undefined): Promise<void> {
    await client.send({ method: 'PUT', key: recordKey, body: formatRecord(record), signal })
  },

  async remove(recordKey: string, signal: AbortSignal | undefined): Promise<void> {
    await client.send({ method: 'DELETE', key: recordKey, signal })
  },

  /**
   * Lists the keys of the records that were written before a time in milliseconds: those of one object, or of all. S3 lists
   * 1,000 at a time; later writes find the others.
   */
  async listBefore(
    objectKey: string | undefined,
    before: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly string[]> {
    const prefix = objectKey === undefined ? recordPrefix : getRecordPrefix(objectKey)
    const list = await requestXml(client, { method: 'GET', key: '', query: { 'list-type': '2', prefix }, signal })
    return findElements(list, 'Contents')
      .filter(listed => Date.parse(findText(listed, 'LastModified') ?? '') < before)
      .map(listed => findText(listed, 'Key') ?? '')
  },
})
