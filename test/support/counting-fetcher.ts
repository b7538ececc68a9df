import type { Fetcher } from '#lib/objects/http/fetcher.ts'

/** Sends as `send` does, and counts the bytes of the bodies that go out. */
export const countingFetcher = (send: Fetcher): { readonly fetcher: Fetcher; sent(): number } => {
  let sent = 0
  return {
    fetcher: ask => {
      sent += ask.body?.size ?? 0
      return send(ask)
    },
    sent: () => sent,
  }
}
