import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { ServiceError } from '#lib/errors.ts'
import { refuseSecondHost } from './one-host.ts'
import { acceptWebSockets, type AnswerUpgrade, isWebSocketRequest } from './web-sockets.ts'

/** The longest path that every system takes for a socket (`sun_path` of macOS, with its final zero). */
const longest = 103

/**
 * A path for a socket of this name in a folder, or in a temporary one of this user where the folder's own path leaves no
 * room for it.
 */
export const openSocketPath = (folder: string, name: string): { readonly path: string } & Disposable => {
  const path = join(folder, name)
  if (Buffer.byteLength(path) <= longest) return { path, [Symbol.dispose]: () => rmSync(path, { force: true }) }
  const own = mkdtempSync(join(tmpdir(), 'vmhost-'))
  const short = join(own, name)
  return {
    path: short,
    [Symbol.dispose]() {
      rmSync(short, { force: true })
      rmdirSync(own)
    },
  }
}

/**
 * Connects to the socket `name` in `folder` however long its path is: by way of the open folder where it is too long.
 * Throws what `connect` throws, and `unavailable` where the system knows no such way.
 */
export const connectIn = async <T>(folder: string, name: string, connect: (path: string) => Promise<T>): Promise<T> => {
  const path = join(folder, name)
  if (Buffer.byteLength(path) <= longest) return connect(path)
  if (process.platform !== 'linux')
    throw new ServiceError('unavailable', `The path ${path} is too long for a socket; use a shorter state folder.`)
  const descriptor = openSync(folder, 'r')
  try {
    return await connect(`/proc/self/fd/${descriptor}/${name}`)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Lets a server listen on a socket in the file system that its owner alone can open. Removes one that a dead process
 * left. Throws `unavailable` for a path that is too long.
 */
export const listenPrivately = async (server: Server, path: string): Promise<void> => {
  if (Buffer.byteLength(path) > longest)
    throw new ServiceError('unavailable', `${path} is too long for a socket; choose a shorter state folder.`)
  rmSync(path, { force: true })
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  // Closed to others from its birth: a mode that is set afterwards leaves a moment in which anybody is root.
  const usual = process.umask(0o177)
  try {
    server.listen(path, resolve)
  } finally {
    process.umask(usual)
  }
  await listening
}

interface LocalServer {
  readonly fetch: (request: Request) => Response | Promise<Response>
  /** Answers a request to become a WebSocket. */
  readonly upgrade: (request: Request) => ReturnType<AnswerUpgrade>
}

/** Serves requests and WebSockets on a socket in the file system that its owner alone can open. */
export const openLocalSocket = async (path: string, { fetch, upgrade }: LocalServer): Promise<AsyncDisposable> => {
  const server = createServer(
    { shouldUpgradeCallback: isWebSocketRequest },
    getRequestListener(
      (request, { incoming }: { incoming: Pick<IncomingMessage, 'rawHeaders'> }) =>
        refuseSecondHost(incoming) ?? fetch(request),
    ),
  )
  acceptWebSockets(server, async (request, incoming) => refuseSecondHost(incoming) ?? upgrade(request))
  await listenPrivately(server, path)
  return {
    async [Symbol.asyncDispose]() {
      const closed = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
