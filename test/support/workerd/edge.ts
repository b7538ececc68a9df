import { join, resolve } from 'node:path'
import { routes } from '#functions/routes.gen.ts'
import { buildEdge } from '#build/edge.ts'
import { edgeSettings } from '#build/edge-settings.ts'
import { startWorkerd, type Workerd } from '#build/workerd.ts'
import { type Exposure, selectExposedRoutes } from '#lib/http/exposure.ts'
import { newFolder } from '../folder.ts'
import { strictCrypto } from './strict-crypto.ts'

export const rootPassword = 'Choose-Your-0wn!'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // What a test expects of a reply, it says itself.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

interface Message {
  readonly token?: string | undefined
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** The edge in workerd, with a state that outlasts it. */
export interface Edge extends AsyncDisposable {
  readonly url: string
  /** Sends a request to a path below `/api`. */
  ask(method: string, path: string, message?: Message): Promise<Answer>
  /** The token of a user, by default of root. */
  signIn(user?: { readonly username: string; readonly password: string }): Promise<string>
  /** Ends it without any grace. */
  kill(): Promise<void>
  /** Starts it again, on the same state and port. */
  start(): Promise<void>
  /** Ends it without any grace, and starts it again. */
  restart(): Promise<void>
  /** Milliseconds of processor time that it has used since its start. */
  processorTime(): number
  /** Bytes of memory that it has now. */
  memory(): number
}

interface Options {
  readonly variables?: Readonly<Record<string, string>>
  readonly network?: readonly string[]
  /** The endpoints that are built; all by default. */
  readonly exposure?: Exposure
}

/** Builds the edge with the limits of the platform, and starts it. */
export const startEdge = async ({
  variables = {},
  network = ['public'],
  exposure = { include: [], exclude: [] },
}: Options = {}): Promise<Edge> => {
  const folder = newFolder()
  const script = join(folder.path, 'script/edge.mjs')
  const entry = resolve('test/edge/programs/strict-edge.ts')
  const built = selectExposedRoutes(routes, exposure)
  await buildEdge(script, built, { builtFor: exposure, entry, plugins: [strictCrypto] })
  const startOn = (address: string): Promise<Workerd> =>
    startWorkerd({
      ...edgeSettings,
      script,
      network,
      address,
      folder: join(folder.path, 'state'),
      variables: { VMHOST_ROOT_PASSWORD: rootPassword, ...variables },
    })
  let worker = await startOn('127.0.0.1:0')

  const ask: Edge['ask'] = async (method, path, { token, body, headers } = {}) => {
    const response = await fetch(`${worker.url}/api${path}`, {
      method,
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    return { status: response.status, headers: response.headers, body: isJson && text ? JSON.parse(text) : text }
  }
  const kill = (): Promise<void> => worker.kill()
  const start = async (): Promise<void> => {
    worker = await startOn(new URL(worker.url).host)
  }
  return {
    get url() {
      return worker.url
    },
    ask,
    async signIn(user = { username: 'root', password: rootPassword }) {
      const { status, body } = await ask('POST', '/v1/auth/token', { body: user })
      if (status !== 200) throw new Error(`sign-in of ${user.username}: ${status} ${JSON.stringify(body)}`)
      return body.token
    },
    kill,
    start,
    async restart() {
      await kill()
      await start()
    },
    processorTime: () => worker.processorTime(),
    memory: () => worker.memory(),
    async [Symbol.asyncDispose]() {
      await worker.kill()
      folder[Symbol.dispose]()
    },
  }
}
