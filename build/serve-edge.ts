/**
 * Serves the bundle of the edge on this computer: `npm run edge -- --address 127.0.0.1:8787 --folder .edge`. Settings are
 * variables of the environment here, and variables and secrets of the script on the platform.
 */
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { edgeSettings } from './edge-settings.ts'
import { startWorkerd } from './workerd.ts'

const { values } = parseArgs({
  options: {
    address: { type: 'string', default: '127.0.0.1:8787' },
    folder: { type: 'string', default: '.edge' },
    'private-network': { type: 'boolean', default: false },
  },
})

const settings = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    name.startsWith('VMHOST_') && value ? [[name, value] as const] : [],
  ),
)
const generated =
  settings['VMHOST_ROOT_PASSWORD'] === undefined ? `Edge-${randomBytes(12).toString('base64url')}1!` : undefined
const {
  url,
  ended,
  [Symbol.asyncDispose]: end,
} = await startWorkerd({
  ...edgeSettings,
  address: values.address,
  folder: values.folder,
  // The platform reaches public addresses only. Hosts and storages of a test are often on this computer.
  network: values['private-network'] ? ['public', 'private', 'local'] : ['public'],
  // On the platform it says who the client is; here the client itself would say it.
  removedHeaders: ['CF-Connecting-IP'],
  variables: { ...(generated !== undefined && { VMHOST_ROOT_PASSWORD: generated }), ...settings },
})
console.log(`The edge is served at ${url}, with its state in ${values.folder}.

Sign in as root, with ${generated === undefined ? 'the password in VMHOST_ROOT_PASSWORD' : `the password ${generated} (until the next start; set VMHOST_ROOT_PASSWORD to choose one)`}:
  curl -s ${url}/api/v1/auth/token -d '{"email":"root","password":"PASSWORD"}'
`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end())
process.exitCode = (await ended) ?? 0
