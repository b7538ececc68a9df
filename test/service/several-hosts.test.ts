import { openListener } from '#lib/listener/listener.ts'
import { createClientAddress } from '#lib/platform/client-address.ts'
import { openStore } from '#lib/storage/open-store.ts'
import { exportPublicJwk } from '#lib/auth/token-key.ts'
import { type ControlPlace, severalHostsContract } from '../contracts/several-hosts.ts'
import { controlIssuer, openControl } from '../support/control.ts'
import { newFolder } from '../support/folder.ts'
import { identityKeys } from '../support/identity.ts'

/** A service that controls hosts, which listens in this process. It can be closed and opened again on its store and port. */
const serveControl = async (folder: string, port = 0) => {
  const stack = new AsyncDisposableStack()
  const store = stack.use(await openStore({ folder }))
  const control = stack.use(await openControl({ store, fetch }))
  const listener = await openListener({
    address: new URL(`http://127.0.0.1:${port}`),
    clientAddress: createClientAddress([]),
    ...control.app,
  })
  stack.defer(async () => {
    const now = new AbortController()
    const closed = listener.close(now.signal)
    now.abort()
    await closed
  })
  return { url: listener.url, close: () => stack.disposeAsync() }
}

severalHostsContract('on Node', async (): Promise<ControlPlace> => {
  const folder = newFolder()
  let served = await serveControl(folder.path)
  return {
    url: served.url,
    issuer: controlIssuer,
    jwks: { keys: [await exportPublicJwk('RS256', identityKeys.current())] },
    close: () => served.close(),
    async start() {
      served = await serveControl(folder.path, Number(new URL(served.url).port))
    },
    async [Symbol.asyncDispose]() {
      await served.close()
      folder[Symbol.dispose]()
    },
  }
})
