import { createHash } from 'node:crypto'
import { createStatusError } from '../http/http-errors.ts'
import type { StorageClient } from '../http/storage-client.ts'
import { findElements, findText, parseXml } from '../http/xml.ts'

const escapeXml = (text: string): string => text.replace(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`)

/** Removes up to a thousand objects in one request (DeleteObjects). Throws the error of the first object that was not removed. */
export const removeMany = async (client: StorageClient, keys: readonly string[]): Promise<void> => {
  const objects = keys.map(key => `<Object><Key>${escapeXml(key)}</Key></Object>`)
  const body = Buffer.from(`<Delete><Quiet>true</Quiet>${objects.join('')}</Delete>`)
  const { text, headers } = await client.send({
    method: 'POST',
    key: '',
    query: { delete: '' },
    headers: { 'content-md5': createHash('md5').update(body).digest('base64'), 'content-type': 'application/xml' },
    body,
  })
  const failed = findElements(await parseXml(client.host, text), 'Error').find(
    one => findText(one, 'Code') !== 'NoSuchKey',
  )
  if (failed === undefined) return
  const code = findText(failed, 'Code')
  const status = code === 'AccessDenied' ? 403 : code === 'InternalError' ? 500 : 400
  throw createStatusError({ host: client.host, status, headers, code, what: findText(failed, 'Key') ?? 'an object' })
}
