/**
 * The tests of endpoints that run once more over a connection: of what the listener does itself. It reads headers, cookies,
 * addresses and small bodies without a `Request` (`lib/listener/direct.ts`), and it passes on streams, ranges, WebSockets and
 * the end of a connection. Every other test of endpoints only repeats this, `test/lib/listener` compares the two ways of a reply, and
 * `test/conformance` asks every endpoint over a connection to the built program. `npm run full` repeats all of them.
 */
export const listenerTests: readonly string[] = [
  'test/functions/{access-matrix,audit,events,idempotency}.test.ts',
  'test/functions/auth/{browser-sessions,connection,sign-in,tickets,tokens}.test.ts',
  'test/functions/catalog/content.test.ts',
  'test/functions/catalog-managers/pages-and-bytes.test.ts',
  'test/functions/hosts/streams.test.ts',
  'test/functions/images/upload.test.ts',
  'test/functions/machines/{console,guest-files,records,screen,selection,tunnel,wait}.test.ts',
]
