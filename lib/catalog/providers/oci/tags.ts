import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { discard, jsonOf, refusal } from '../reply.ts'
import type { Registry } from './registry.ts'

/** Registries give `null` for a repository whose tags were all removed. */
const page = z.object({ tags: z.array(z.string()).nullish() })

const longest = 16 * 1024 * 1024

/** Where the next page is (RFC 8288); undefined after the last. */
const nextOf = (registry: Registry, url: URL, link: string | null): URL | undefined => {
  const [, target] = /<([^>]*)>\s*;\s*rel="?next"?/i.exec(link ?? '') ?? []
  if (target === undefined) return undefined
  const next = URL.canParse(target, url) ? new URL(target, url) : undefined
  if (next?.origin !== url.origin)
    throw new ServiceError('upstream', `${registry.name} has the next page of its tags somewhere else.`)
  return next
}

/** All tags of a repository, page by page; none when there is no repository. Throws `upstream`. */
export async function* tagsOf(registry: Registry, signal: AbortSignal | undefined): AsyncGenerator<readonly string[]> {
  for (let url: URL | undefined = registry.url('tags/list?n=1000'); url;) {
    const reply = await registry.send(url, { method: 'GET', signal })
    if (reply.status === 404) return discard(reply)
    if (reply.status !== 200) throw await refusal(registry.name, reply, 'its tags were listed')
    const read = page.safeParse(await jsonOf(registry.name, reply, longest))
    if (!read.success) throw new ServiceError('upstream', `${registry.name} gave a list of tags that cannot be read.`)
    yield read.data.tags ?? []
    url = nextOf(registry, url, reply.headers.get('link'))
  }
}
