import { existsSync } from 'node:fs'
import { edgeSettings } from '#build/edge-settings.ts'
import { startWorkerd } from '#build/workerd.ts'
import { newFolder } from '../../support/folder.ts'
import { freePort } from '../../support/servers/sshd.ts'
import { until } from '../../support/waiting.ts'
import { startHost } from './host.ts'
import { allowedOrigin, rootPassword, type Running, type Runtime } from './runtime.ts'

/** Makes a host of a running control: registers it, starts it, and waits until it is heard. */
const addHost = async (control: string, driver: 'qemu' | undefined): Promise<Running> => {
  const ask = async (method: string, path: string, body?: object, token = '') => {
    const response = await fetch(`${control}/api/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
    return new Map<string, unknown>(Object.entries(JSON.parse(text)))
  }
  const token = String((await ask('POST', 'auth/token', { email: 'root', password: rootPassword })).get('token'))
  const url = `http://127.0.0.1:${await freePort()}`
  const host = await ask('POST', 'hosts', { name: 'host-1', url }, token)
  const audience = String(host.get('id'))
  const jwks = `${control}/.well-known/jwks.json`
  const running = await startHost({
    driver,
    env: {
      VMHOST_LISTEN: url,
      VMHOST_CONTROL_URL: control,
      VMHOST_CONTROL_KEY: String(host.get('key')),
      VMHOST_TRUSTED_ISSUERS: JSON.stringify([{ issuer: 'vmhost', jwks, audience }]),
    },
  })
  await until(async () => {
    const state = (await ask('GET', `hosts/${audience}`, undefined, token)).get('state')
    if (state !== 'reachable') throw new Error(`the host is ${String(state)}`)
  })
  return running
}

/** The edge in workerd: the worker and its control, with a host where the cases need one. */
export const workerd: Runtime = {
  name: 'workerd',
  absence: existsSync(edgeSettings.script) ? '' : 'the edge is not built; run `npm run build`',
  async start({ withHost, driver } = { withHost: false }) {
    await using stack = new AsyncDisposableStack()
    const folder = stack.use(newFolder())
    const { url, kill } = await startWorkerd({
      ...edgeSettings,
      folder: folder.path,
      network: ['public', 'private', 'local'],
      variables: {
        VMHOST_ROOT_PASSWORD: rootPassword,
        VMHOST_CORS_ORIGINS: allowedOrigin,
        VMHOST_OUTGOING_ADDRESSES: '127.0.0.1',
      },
    })
    // Asked to end, it would wait for open streams.
    stack.defer(kill)
    const host = withHost ? stack.use(await addHost(url, driver)) : undefined
    const all = stack.move()
    return {
      url,
      fetch: (path, init) => fetch(url + path, init),
      // The platform tells the address of the client.
      platformHeaders: { 'cf-connecting-ip': '127.0.0.1' },
      known: { ...host?.known, [url]: 'URL' },
      [Symbol.asyncDispose]: () => all.disposeAsync(),
    }
  },
}
