import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { type Page, readPages } from '../http/listing.ts'
import { drain, getHeader, readJson, replyError } from '../http/response.ts'
import type { Registry } from './registry.ts'

/** Registries send `null` for a repository whose tags were all removed. */
const tagListSchema = z.object({ tags: z.array(z.string()).nullish() })

/** The URL of the next page (RFC 8288); undefined for the last page. */
const getNextPage = (registry: Registry, url: URL, link: string | undefined): URL | undefined => {
  const [, target] = /<([^>]*)>\s*;\s*rel="?next"?/i.exec(link ?? '') ?? []
  if (target === undefined) return undefined
  const next = URL.canParse(target, url) ? new URL(target, url) : undefined
  if (next?.origin !== url.origin)
    throw new ServiceError('upstream', `The storage ${registry.host} names a next page of tags somewhere else.`)
  return next
}

/** Lists the tags of a repository page by page; none when it is missing. Throws `upstream`, also for an endless list. */
export const listTags = (registry: Registry, signal: AbortSignal | undefined): AsyncGenerator<readonly string[]> => {
  const read = async (next: string | undefined): Promise<Page<string>> => {
    const url = next === undefined ? registry.url('tags/list?n=1000') : new URL(next)
    const reply = await registry.send({ url, method: 'GET', signal })
    if (reply.status === 404) {
      drain(reply)
      return { items: [], next: undefined }
    }
    if (reply.status !== 200) throw replyError(reply, 'its tags')
    const read = tagListSchema.safeParse(await readJson(reply))
    if (!read.success)
      throw new ServiceError('upstream', `The storage ${registry.host} gave a list of tags that cannot be read.`)
    return { items: read.data.tags ?? [], next: getNextPage(registry, url, getHeader(reply, 'link'))?.href }
  }
  return readPages(registry.host, read, tag => tag)
}
