import type { Fetcher } from '#lib/objects/http/fetcher.ts'
import { createFetcher } from '#lib/objects/http/send.ts'

/** Sends as usual, and counts the bytes of the bodies that go out. */
export const countingFetcher = (): { readonly fetcher: Fetcher; sent(): number } => {
  const fetcher = createFetcher()
  let sent = 0
  return {
    fetcher: ask => {
      sent += ask.body?.size ?? 0
      return fetcher(ask)
    },
    sent: () => sent,
  }
}
