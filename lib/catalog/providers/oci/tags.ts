import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { discard, headerOf, jsonOf, refused } from '../http/reply.ts'
import type { Registry } from './registry.ts'

/** Registries give `null` for a repository whose tags were all removed. */
const page = z.object({ tags: z.array(z.string()).nullish() })

/** Where the next page is (RFC 8288); undefined after the last. */
const nextOf = (registry: Registry, url: URL, link: string | undefined): URL | undefined => {
  const [, target] = /<([^>]*)>\s*;\s*rel="?next"?/i.exec(link ?? '') ?? []
  if (target === undefined) return undefined
  const next = URL.canParse(target, url) ? new URL(target, url) : undefined
  if (next?.origin !== url.origin)
    throw new ServiceError('upstream', `The storage ${registry.host} has the next page of its tags somewhere else.`)
  return next
}

/** All tags of a repository, page by page; none when there is no repository. Throws `upstream`. */
export async function* tagsOf(registry: Registry, signal: AbortSignal | undefined): AsyncGenerator<readonly string[]> {
  for (let url: URL | undefined = registry.url('tags/list?n=1000'); url;) {
    const reply = await registry.send({ url, method: 'GET', signal })
    if (reply.status === 404) return discard(reply)
    if (reply.status !== 200) throw refused(reply, 'its tags')
    const read = page.safeParse(await jsonOf(reply))
    if (!read.success)
      throw new ServiceError('upstream', `The storage ${registry.host} gave a list of tags that cannot be read.`)
    yield read.data.tags ?? []
    url = nextOf(registry, url, headerOf(reply, 'link'))
  }
}
