import type { Authenticate } from '#lib/access/credential.ts'
import { messageOf } from '#lib/errors.ts'
import { type App, createApp } from '#lib/http/app.ts'
import type { AppOptions } from '#lib/http/options.ts'
import { openLocalSocket } from '#lib/platform/local-socket.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import type { Config } from './config.ts'
import { selectServedRoutes } from './served-routes.ts'
import { getSocketPath } from './state.ts'

/**
 * Serves all endpoints on the socket of the command line. Only the owner of the state folder can open the socket, and the owner can
 * do everything. So the command line acts as root. Returns undefined if the socket cannot be opened.
 */
export const openCommandLineSocket = async (
  config: Config,
  appOptions: Omit<AppOptions, 'routes' | 'authenticate'>,
  authenticateRoot: Authenticate,
): Promise<AsyncDisposable | undefined> => {
  const routes = selectServedRoutes({ ...config, routes_include: [], routes_exclude: [] })
  // Made at the first request, because most services never get one.
  let app: App | undefined
  const openApp = (): App => (app ??= createApp({ ...appOptions, routes, authenticate: authenticateRoot }))
  try {
    return await openLocalSocket(getSocketPath(config), {
      fetch: request => openApp().fetch(request, { address: 'local' }),
      upgrade: request => openApp().upgrade(request, { address: 'local' }),
    })
  } catch (error) {
    // The service works without the socket. The command line then works only while the service is stopped.
    getAreaLogger('entry').warning('The command line cannot reach this service: {reason}', { reason: messageOf(error) })
    return undefined
  }
}
