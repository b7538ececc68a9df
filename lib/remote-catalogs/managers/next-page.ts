import type { OutgoingReply } from '#lib/platform/outgoing.ts'
import { PassThroughQuery } from './catalog-schemas.ts'

const isNextRelation = (parameters: string): boolean => {
  const [, quoted, plain = ''] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s";,]*))/i.exec(parameters) ?? []
  return (quoted ?? plain).toLowerCase().split(/\s+/).includes('next')
}

/**
 * What a reply asks for the next page by (RFC 8288), as a query; undefined on the last page. Where that would be is left
 * out: the remote service is asked in its place by this one.
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
