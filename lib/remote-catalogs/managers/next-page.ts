import type { OutgoingReply } from '#lib/platform/outgoing-request.ts'
import { PassThroughQuery } from './catalog-schemas.ts'

const isNextRelation = (parameters: string): boolean => {
  const [, quoted, plain = ''] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s";,]*))/i.exec(parameters) ?? []
  return (quoted ?? plain).toLowerCase().split(/\s+/).includes('next')
}

/**
 * Parses the query of the next page from the Link of a reply (RFC 8288); undefined on the last page. The rest of the URL is
 * ignored, because clients request the page from this service.
 */
export const parseNextPage = ({ headers: { link = '' } }: OutgoingReply): URLSearchParams | undefined => {
  for (const [, target = '', parameters = ''] of [link]
    .flat()
    .join(',')
    .matchAll(/<([^<>]*)>([^<]*)/g)) {
    const url = isNextRelation(parameters) && URL.parse(target, 'http://remote')
    if (url) return new URLSearchParams(PassThroughQuery.parse(Object.fromEntries(url.searchParams)))
  }
  return undefined
}
